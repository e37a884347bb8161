"""People whom another service knows, an OpenID provider or a proxy: may they come in, as whom, and as what?"""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts import people, setup
from pressbox.core.accounts.factor_rows import ExternalIdentityRow
from pressbox.core.accounts.models import Role
from pressbox.core.accounts.passwords import UNUSABLE
from pressbox.core.accounts.rows import UserRow
from pressbox.core.config import AdmissionSettings
from pressbox.core.errors import ConflictError, ForbiddenError, InvalidInputError

USED_AGAIN_AFTER = timedelta(minutes=5)


@dataclass(frozen=True)
class ExternalPerson:
    """Somebody as another service describes them. `subject` never changes there; everything else may."""

    provider: str
    subject: str
    email: str | None
    email_verified: bool
    name: str
    groups: frozenset[str]


@dataclass(frozen=True)
class Admitted:
    """`created` and `linked` say what was done for it, `new_role` what changed; all for the audit log."""

    user: UserRow
    created: bool = False
    linked: bool = False
    new_role: Role | None = None


def require_group(person: ExternalPerson, settings: AdmissionSettings) -> None:
    if settings.allowed_groups and not person.groups & set(settings.allowed_groups):
        raise ForbiddenError("You are in none of the groups that may use this Pressbox. Ask whoever runs it.")


def role_of(person: ExternalPerson, settings: AdmissionSettings) -> Role | None:
    """The role that the groups give; None when roles are not given by groups."""
    if not settings.admin_groups:
        return None
    return Role.ADMIN if person.groups & set(settings.admin_groups) else Role.MEMBER


async def admit(session: AsyncSession, person: ExternalPerson, settings: AdmissionSettings) -> Admitted:
    """The account of this person, made or connected when the settings say so."""
    require_group(person, settings)
    row = await find(session, person)
    admitted = Admitted(row) if row is not None else await _welcome(session, person, settings)
    row = admitted.user
    if row.disabled_at is not None:
        raise ForbiddenError("This account is disabled. Ask whoever runs this Pressbox.")
    wanted = role_of(person, settings)
    if wanted is None or wanted == row.role:
        return admitted
    if wanted is not Role.ADMIN and await people.lock_administrators(session) == {row.id}:
        # Nobody could administrate any more; the next sign-in tries again.
        return admitted
    row.role = wanted
    await session.flush()
    return Admitted(row, admitted.created, admitted.linked, new_role=wanted)


async def find(session: AsyncSession, person: ExternalPerson) -> UserRow | None:
    known = (ExternalIdentityRow.provider == person.provider, ExternalIdentityRow.subject == person.subject)
    joined = select(UserRow).join(ExternalIdentityRow, ExternalIdentityRow.user_id == UserRow.id)
    row = (await session.execute(joined.where(*known))).scalar_one_or_none()
    if row is not None:
        stale = or_(
            ExternalIdentityRow.last_used_at.is_(None),
            ExternalIdentityRow.last_used_at < func.now() - USED_AGAIN_AFTER,
        )
        await session.execute(update(ExternalIdentityRow).where(*known, stale).values(last_used_at=func.now()))
    return row


async def link(session: AsyncSession, person: ExternalPerson, user_id: int) -> None:
    """Connect to an account whose owner asked for it."""
    await setup.take_turns(session)
    owner = await find(session, person)
    if owner is not None and owner.id != user_id:
        raise ConflictError("This sign-in belongs to another account here already.")
    if owner is None:
        await _insert(session, person, user_id)


async def unlink(session: AsyncSession, user_id: int, provider: str) -> bool:
    statement = delete(ExternalIdentityRow).where(
        ExternalIdentityRow.user_id == user_id, ExternalIdentityRow.provider == provider
    )
    return (await session.execute(statement.returning(ExternalIdentityRow.subject))).first() is not None


async def providers_of(session: AsyncSession, user_id: int) -> frozenset[str]:
    statement = select(ExternalIdentityRow.provider).where(ExternalIdentityRow.user_id == user_id)
    return frozenset((await session.execute(statement)).scalars())


async def _welcome(session: AsyncSession, person: ExternalPerson, settings: AdmissionSettings) -> Admitted:
    # Two tabs of one new person take turns, and the second finds what the first made.
    await setup.take_turns(session)
    row = await find(session, person)
    if row is not None:
        return Admitted(row)
    email = _usable_email(person)
    existing = await people.find_by_email(session, email) if email else None
    if existing is not None:
        if not (settings.link_by_email and person.email_verified):
            raise ForbiddenError(
                "There is an account with your e-mail address. Sign in to it as usual, then connect it on the account "
                "page."
            )
        if person.provider in await providers_of(session, existing.id):
            # Whoever came first under this address may have made it up; they do not get to share an account.
            raise ForbiddenError("The account with your e-mail address is somebody else's. Ask whoever runs this.")
        await _insert(session, person, existing.id)
        return Admitted(existing, linked=True)
    email = _email_for_account(person, settings)
    if role_of(person, settings) is not Role.ADMIN and not await people.anybody(session):
        # Whoever came first would make the set-up link void, and nobody could administrate.
        raise ForbiddenError("Pressbox is not set up yet: the first account must be an administrator's.")
    name = " ".join(person.name.split())[: people.LONGEST_NAME]
    row = await people.insert_user(session, email, name if name.isprintable() else "", UNUSABLE, Role.MEMBER)
    await _insert(session, person, row.id)
    return Admitted(row, created=True)


async def _insert(session: AsyncSession, person: ExternalPerson, user_id: int) -> None:
    values = {"provider": person.provider, "subject": person.subject, "user_id": user_id}
    await session.execute(insert(ExternalIdentityRow).values(**values, last_used_at=func.now()))


def _email_for_account(person: ExternalPerson, settings: AdmissionSettings) -> str:
    email = _usable_email(person)
    if not settings.create_accounts:
        raise ForbiddenError("There is no account for you here yet. Ask whoever runs this Pressbox to add you.")
    if email is None:
        raise ForbiddenError("An account needs an e-mail address, and none that can be used came with your sign-in.")
    if not person.email_verified:
        # It would send mail to whoever really has that address, and keep them out when they come.
        raise ForbiddenError(
            "An account needs an e-mail address that was confirmed where you signed in. Confirm it there, or ask "
            "whoever runs this Pressbox to add you."
        )
    return email


def _usable_email(person: ExternalPerson) -> str | None:
    try:
        return people.normalise_email(person.email) if person.email else None
    except InvalidInputError:
        return None
