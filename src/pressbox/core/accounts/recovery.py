"""Ways back and in by link: a forgotten password, an invitation, another e-mail address.

Whoever asks for a reset is told the same whether or not there is such an account.
"""

from dataclasses import dataclass
from datetime import timedelta

from pressbox.core.accounts import audit, links, people, setup
from pressbox.core.accounts.audit import Action
from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.limits import Limit, RateLimits, address_subject
from pressbox.core.accounts.links import PASSWORD_PURPOSES, LinkPurpose
from pressbox.core.accounts.models import COMMAND_LINE, Actor, Client, Role, User
from pressbox.core.accounts.passwords import UNUSABLE, validate_password
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, GoneError, InvalidInputError, RateLimitedError
from pressbox.core.logs import get_logger

log = get_logger(__name__)

RESETS_BY_ADDRESS = Limit("resets-address", 10, timedelta(hours=1))
RESETS_BY_PERSON = Limit("resets-person", 3, timedelta(hours=1))
LINKS_BY_ADDRESS = Limit("account-links-address", 30, timedelta(minutes=10))
EMAIL_CHANGES_BY_USER = Limit("email-changes-user", 5, timedelta(hours=1))


@dataclass(frozen=True)
class MadeLink:
    """A link at its making, the only moment at which `secret` can be shown."""

    user: User
    secret: str
    purpose: LinkPurpose


@dataclass(frozen=True)
class EmailChange:
    """An address that its owner has to confirm, and the one before."""

    link: MadeLink
    email: str


class AccountRecovery:
    def __init__(self, database: Database, life_cycle: AccountLifeCycle) -> None:
        self._database = database
        self._life_cycle = life_cycle
        self._limits = RateLimits(database)

    async def count_request(self, client: Client) -> None:
        """Count somebody who asks for a reset, or raise when that is one too many from there."""
        await self._limits.count(RESETS_BY_ADDRESS, address_subject(client.address))

    async def create_reset(self, email: str, client: Client) -> MadeLink | None:
        """A link for whoever has this address. None when nobody has, or when enough were sent already."""
        try:
            subject = people.normalise_email(email)
            await self._limits.count(RESETS_BY_PERSON, subject)
        except (InvalidInputError, RateLimitedError):
            return None
        async with self._database.unit_of_work() as work:
            row = await people.find_by_email(work.session, subject)
            if row is None or row.disabled_at is not None:
                return None
            secret = await links.create(work.session, row.id, LinkPurpose.RESET)
            await audit.record(work.session, Action.RESET_ASKED, audit.nobody(client), row.id)
        return MadeLink(people.to_user(row), secret, LinkPurpose.RESET)

    async def create_link(self, user_id: int, *, by: Actor = COMMAND_LINE) -> MadeLink:
        """A link that an administrator hands over: a new password, or the first one of somebody invited."""
        async with self._database.unit_of_work() as work:
            row = await people.get(work.session, user_id)
            if row.disabled_at is not None:
                raise ConflictError("This account is disabled. Enable it first.")
            purpose = LinkPurpose.INVITATION if row.password_hash == UNUSABLE else LinkPurpose.RESET
            secret = await links.create(work.session, row.id, purpose)
            await audit.record(work.session, Action.RESET_LINK_MADE, by, row.id)
        return MadeLink(people.to_user(row), secret, purpose)

    async def invite(
        self, email: str, *, role: Role = Role.MEMBER, name: str = "", by: Actor = COMMAND_LINE
    ) -> MadeLink:
        """Add somebody who chooses their own password by the link."""
        email, name = people.normalise_email(email), people.clean_name(name)
        async with self._database.unit_of_work() as work:
            await setup.take_turns(work.session)
            row = await people.insert_user(work.session, email, name, UNUSABLE, role)
            secret = await links.create(work.session, row.id, LinkPurpose.INVITATION)
            await audit.record(work.session, Action.USER_INVITED, by, row.id, role=role)
        log.info("user_invited", msg="Somebody was invited", user_id=row.id, role=role)
        return MadeLink(people.to_user(row), secret, LinkPurpose.INVITATION)

    async def check_link(self, secret: str, client: Client) -> LinkPurpose:
        """What the link is for, or a GoneError."""
        await self._limits.count(LINKS_BY_ADDRESS, address_subject(client.address))
        async with self._database.unit_of_work() as work:
            return LinkPurpose((await links.require(work.session, secret, *PASSWORD_PURPOSES)).purpose)

    async def redeem_password_link(self, secret: str, password: str, client: Client) -> User:
        """Set the password that somebody chose; everything that the old one opened ends, the link too."""
        await self._limits.count(LINKS_BY_ADDRESS, address_subject(client.address))
        validate_password(password)
        async with self._database.unit_of_work() as work:
            user_id = (await links.require(work.session, secret, *PASSWORD_PURPOSES)).user_id
            await links.use_up(work.session, secret)
        by = Actor(user_id, client)
        await self._life_cycle.set_password(user_id, password, by=by, action=Action.PASSWORD_RESET)
        async with self._database.unit_of_work() as work:
            return people.to_user(await people.get(work.session, user_id))

    async def ask_for_email(self, user_id: int, email: str, *, by: Actor) -> EmailChange:
        """A link for the new address. The old one stays until it is opened there."""
        email = people.normalise_email(email)
        await self._limits.count(EMAIL_CHANGES_BY_USER, str(user_id))
        async with self._database.unit_of_work() as work:
            row = await people.get(work.session, user_id)
            if row.email == email:
                raise InvalidInputError("This is your address already.", field="email")
            secret = await links.create(work.session, user_id, LinkPurpose.EMAIL, email)
            await audit.record(work.session, Action.EMAIL_CHANGE_ASKED, by, user_id)
        return EmailChange(MadeLink(people.to_user(row), secret, LinkPurpose.EMAIL), email)

    async def check_email_link(self, secret: str) -> str:
        async with self._database.unit_of_work() as work:
            return (await links.require(work.session, secret, LinkPurpose.EMAIL)).email or ""

    async def confirm_email(self, secret: str, client: Client) -> User:
        """The new address is theirs: they opened the link that was sent there."""
        await self._limits.count(LINKS_BY_ADDRESS, address_subject(client.address))
        async with self._database.unit_of_work() as work:
            link = await links.require(work.session, secret, LinkPurpose.EMAIL)
            if link.email is None:
                raise GoneError("This link names no address.")
            row = await people.change_email(work.session, link.user_id, link.email)
            await links.end_all(work.session, row.id)
            await audit.record(work.session, Action.EMAIL_CHANGED, Actor(row.id, client), row.id)
        return people.to_user(row)

    async def set_email(self, user_id: int, email: str, *, by: Actor = COMMAND_LINE) -> User:
        """Give somebody another address without asking there, as an administrator may."""
        email = people.normalise_email(email)
        async with self._database.unit_of_work() as work:
            row = await people.change_email(work.session, user_id, email)
            await links.end_all(work.session, user_id)
            await audit.record(work.session, Action.EMAIL_CHANGED, by, user_id)
        return people.to_user(row)
