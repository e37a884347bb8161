"""Users: statements inside a unit of work, and what a usable address or name is."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.models import Role, User
from pressbox.core.accounts.passwords import UNUSABLE
from pressbox.core.accounts.rows import UserRow
from pressbox.core.errors import ConflictError, InvalidInputError, NotFoundError

# The address of the owner that the open mode makes when there is no account yet.
OPEN_OWNER = "owner@localhost"
LONGEST_NAME = 100
LONGEST_EMAIL = 320
LARGEST_ID = 2**63 - 1


def normalise_email(text: str) -> str:
    """One spelling per address. No DNS question: a home server has addresses that the world does not know."""
    # Here, because commands that show people need not know what an address is.
    from email_validator import EmailNotValidError, validate_email

    wrong = "This is not an e-mail address. It has the form name@example.org."
    if len(text) > LONGEST_EMAIL:
        raise InvalidInputError(wrong, field="email")
    try:
        checked = validate_email(text.strip(), check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError as error:
        raise InvalidInputError(f"{wrong} {error}", field="email") from error
    except UnicodeError as error:
        raise InvalidInputError(wrong, field="email") from error
    return checked.normalized.lower()


def clean_name(text: str, *, required: bool = False, field: str = "name") -> str:
    name = " ".join(text.split())
    if required and not name:
        raise InvalidInputError("A name is missing.", field=field)
    if len(name) > LONGEST_NAME:
        raise InvalidInputError(f"The name is longer than {LONGEST_NAME} characters.", field=field)
    if not name.isprintable():
        raise InvalidInputError("The name has characters that cannot be shown.", field=field)
    return name


def to_user(row: UserRow) -> User:
    return User(
        id=row.id,
        email=row.email,
        name=row.name,
        role=Role(row.role),
        language=row.language,
        created_at=row.created_at,
        disabled_at=row.disabled_at,
        has_password=row.password_hash != UNUSABLE,
    )


async def insert_user(session: AsyncSession, email: str, name: str, password_hash: str, role: Role) -> UserRow:
    values = {"email": email, "name": name, "password_hash": password_hash, "role": role}
    try:
        async with session.begin_nested():
            return (await session.execute(insert(UserRow).values(**values).returning(UserRow))).scalar_one()
    except IntegrityError as error:
        raise ConflictError("There is an account with this e-mail address already.") from error


async def find_by_email(session: AsyncSession, email: str) -> UserRow | None:
    statement = select(UserRow).where(func.lower(UserRow.email) == email)
    return (await session.execute(statement)).scalar_one_or_none()


async def get(session: AsyncSession, user_id: int) -> UserRow:
    row = await session.get(UserRow, user_id) if 0 < user_id <= LARGEST_ID else None
    if row is None or row.deleted_at is not None:
        raise NotFoundError("There is no such user.", user_id=user_id)
    return row


async def change_email(session: AsyncSession, user_id: int, email: str) -> UserRow:
    row = await get(session, user_id)
    try:
        async with session.begin_nested():
            row.email = email
    except IntegrityError as error:
        raise ConflictError("There is an account with this e-mail address already.") from error
    return row


async def replace_hash(session: AsyncSession, user_id: int, old: str, new: str) -> None:
    """Store the same password with newer parameters, unless somebody has changed it meanwhile."""
    same = (UserRow.id == user_id, UserRow.password_hash == old)
    await session.execute(update(UserRow).where(*same).values(password_hash=new))


async def everybody(session: AsyncSession) -> Sequence[UserRow]:
    statement = select(UserRow).where(UserRow.deleted_at.is_(None)).order_by(UserRow.id)
    return (await session.execute(statement)).scalars().all()


async def anybody(session: AsyncSession) -> bool:
    """Whether there are accounts. The owner that the open mode made has no password and does not count."""
    somebody = or_(UserRow.password_hash != UNUSABLE, UserRow.email != OPEN_OWNER)
    statement = select(UserRow.id).where(somebody).limit(1)
    return (await session.execute(statement)).first() is not None


async def first_administrator(session: AsyncSession) -> UserRow | None:
    statement = select(UserRow).where(UserRow.role == Role.ADMIN, UserRow.disabled_at.is_(None)).order_by(UserRow.id)
    return (await session.execute(statement.limit(1))).scalar_one_or_none()


async def database_time(session: AsyncSession) -> datetime:
    """One clock for all processes."""
    return (await session.execute(select(func.now()))).scalar_one()


async def lock_administrators(session: AsyncSession) -> set[int]:
    """The ids of all who can administrate, held until the commit: two changes at once cannot remove the last one."""
    statement = select(UserRow.id).where(UserRow.role == Role.ADMIN, UserRow.disabled_at.is_(None)).order_by(UserRow.id)
    return set((await session.execute(statement.with_for_update())).scalars())
