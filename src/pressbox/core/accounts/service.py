"""Accounts: everything that pages, the API and the command line do with users, sessions and tokens.

Nothing here tells an unknown user from a wrong password: not the text, nor the time, nor the rate limit.
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta

from pressbox.core.accounts import audit, devices, people, sessions, setup, tokens
from pressbox.core.accounts.attempts import Pause, SignInAttempts
from pressbox.core.accounts.audit import Action
from pressbox.core.accounts.factor_demand import has_any, is_demanded
from pressbox.core.accounts.limits import (
    PROOFS_BY_USER,
    SET_UP_BY_ADDRESS,
    TOKEN_FAILURES_BY_ADDRESS,
    RateLimits,
    address_subject,
)
from pressbox.core.accounts.models import (
    COMMAND_LINE,
    SINGLE_FACTOR,
    Actor,
    Authenticated,
    Client,
    NewToken,
    Proof,
    Role,
    Scope,
    SessionView,
    SignedIn,
    TokenView,
    User,
    effective_scopes,
    scopes_of,
)
from pressbox.core.accounts.passwords import UNUSABLE, Passwords, validate_password
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, InvalidInputError, NotFoundError
from pressbox.core.logs import get_logger

log = get_logger(__name__)

PASSWORD_IS_NOT_ENOUGH = "This account has a second factor. Confirm with a code, a passkey or a recovery code."  # noqa: S105


class AccountService:
    def __init__(
        self,
        database: Database,
        settings: Settings,
        *,
        passwords: Passwords | None = None,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._database = database
        self.passwords = passwords or Passwords()
        self._session_life = timedelta(days=settings.web.session_days)
        self._second_factor = settings.accounts.second_factor
        self._limits = RateLimits(database)
        self._attempts = SignInAttempts(database, pause=pause)

    # Set-up

    async def set_up(self) -> bool:
        """Whether there is somebody who can sign in."""
        async with self._database.unit_of_work() as work:
            return await people.anybody(work.session)

    async def create_setup_link(self) -> str | None:
        """The secret of a new link, for `/set-up?token=…`; None when Pressbox is set up already."""
        async with self._database.unit_of_work() as work:
            secret = await setup.create(work.session)
        if secret is not None:
            log.info("setup_link_created", msg="A set-up link was made; older ones are void")
        return secret

    async def check_setup_link(self, secret: str) -> None:
        async with self._database.unit_of_work() as work:
            await setup.require(work.session, secret)

    async def redeem_setup_link(
        self, secret: str, *, email: str, password: str, name: str = "", client: Client
    ) -> SignedIn:
        """Make the first administrator, signed in. What is wrong in the form does not use up the link."""
        await self._limits.count(SET_UP_BY_ADDRESS, address_subject(client.address))
        await self.check_setup_link(secret)
        email, name = people.normalise_email(email), people.clean_name(name)
        password_hash = await self.passwords.hash(validate_password(password))
        async with self._database.unit_of_work() as work:
            row = await setup.redeem(work.session, secret, email=email, name=name, password_hash=password_hash)
            user = people.to_user(row)
            await audit.record(work.session, Action.SET_UP, Actor(user.id, client), user.id)
        log.info("set_up", msg="The first administrator was made", user_id=user.id)
        return await self.begin_session(user, client, Proof.LINK)

    # Sessions

    async def check_password(self, email: str, password: str, *, client: Client) -> User:
        """The person with this address, who knows the password; anything else is one and the same error."""
        subject = _email_subject(email)
        async with self._database.unit_of_work() as work:
            row = await people.find_by_email(work.session, subject)
            known = row is not None and await devices.is_known(work.session, row.id, client.device)
        attempt = await self._attempts.admit(subject, client, known_device=known)
        check = await self.passwords.check(row.password_hash if row else None, password)
        if row is None or not check.matches or row.disabled_at is not None:
            log.info("sign_in_refused", msg="Wrong e-mail address or password", address=client.address)
            async with self._database.unit_of_work() as work:
                subject_id = row.id if row else None
                await audit.record(work.session, Action.SIGN_IN_REFUSED, audit.nobody(client), subject_id)
            raise InvalidInputError("E-mail address or password is wrong.", field="password")
        if check.replacement is not None:
            async with self._database.unit_of_work() as work:
                await people.replace_hash(work.session, row.id, row.password_hash, check.replacement)
        await self._attempts.succeed(attempt)
        return people.to_user(row)

    async def begin_session(
        self, user: User, client: Client, proof: Proof, *, previous_session: str | None = None
    ) -> SignedIn:
        """The one way into a session, for somebody who has proved who they are, however they did it.

        The session has a new name, and ends the one that the browser had before.
        """
        async with self._database.unit_of_work() as work:
            row = await people.get(work.session, user.id)
            if row.disabled_at is not None:
                raise InvalidInputError("This account is disabled. An administrator can enable it again.")
            if previous_session is not None:
                await sessions.end(work.session, previous_session)
            secret = await sessions.begin(work.session, row.id, client.agent, self._session_life, proof)
            known = await devices.is_known(work.session, row.id, client.device)
            new_device = not known and await devices.has_any(work.session, row.id)
            device = await devices.remember(work.session, row.id, client.device)
            actor = Actor(row.id, client)
            await audit.record(work.session, Action.SIGNED_IN, actor, row.id, by=proof, new_device=new_device)
        log.info("signed_in", msg="A session began", user_id=row.id, address=client.address, proof=proof)
        return SignedIn(secret=secret, user=people.to_user(row), device=device, new_device=new_device)

    async def sign_in(
        self, email: str, password: str, *, client: Client, previous_session: str | None = None
    ) -> SignedIn:
        """By e-mail address and password alone, for whoever has no second factor."""
        user = await self.check_password(email, password, client=client)
        async with self._database.unit_of_work() as work:
            if await has_any(work.session, user.id):
                raise ConflictError("This account has a second factor. Sign in on the sign-in page.")
        return await self.begin_session(user, client, Proof.PASSWORD, previous_session=previous_session)

    async def prove_by_password(self, user_id: int, password: str, *, client: Client) -> None:
        """Raise unless this is the password of somebody who is signed in already, and has no second factor."""
        await self._limits.count(PROOFS_BY_USER, f"{user_id} {address_subject(client.address)}")
        async with self._database.unit_of_work() as work:
            stored = (await people.get(work.session, user_id)).password_hash
            needs_factor = await has_any(work.session, user_id)
        # The one who took a session may know the password too; that is what the second factor is for.
        if not needs_factor and (await self.passwords.check(stored, password)).matches:
            return
        async with self._database.unit_of_work() as work:
            await audit.record(work.session, Action.PROOF_REFUSED, Actor(user_id, client), user_id)
        if needs_factor:
            raise InvalidInputError(PASSWORD_IS_NOT_ENOUGH, field="code")
        raise InvalidInputError("The password is wrong.", field="password")

    async def note_proof(self, *, session: str | None = None, token: str | None = None) -> None:
        """From now on, for a while, whoever uses this session or token has shown that it is really them."""
        async with self._database.unit_of_work() as work:
            if session is not None:
                await sessions.prove(work.session, session)
            if token is not None:
                await tokens.prove(work.session, token)

    async def sign_out(self, session_secret: str) -> None:
        async with self._database.unit_of_work() as work:
            await sessions.end(work.session, session_secret)

    async def sign_out_everywhere(self, user_id: int, *, by: Actor = COMMAND_LINE) -> None:
        async with self._database.unit_of_work() as work:
            await sessions.end_all(work.session, user_id)
            await audit.record(work.session, Action.SIGNED_OUT_EVERYWHERE, by, user_id)
        log.info("signed_out_everywhere", msg="Sessions were ended", user_id=user_id)

    async def sessions(self, user_id: int, *, current: str | None = None) -> tuple[SessionView, ...]:
        async with self._database.unit_of_work() as work:
            return await sessions.views(work.session, user_id, current)

    async def end_session(self, user_id: int, session_id: str) -> None:
        async with self._database.unit_of_work() as work:
            if not await sessions.end_one(work.session, user_id, session_id):
                raise NotFoundError("This session has ended already.")

    async def authenticate_session(self, secret: str) -> Authenticated | None:
        async with self._database.unit_of_work() as work:
            found = await sessions.find(work.session, secret, self._session_life)
            if found is None:
                return None
            user = people.to_user(found.user)
            wanted = is_demanded(self._second_factor, user.role) and found.proof in SINGLE_FACTOR
            lacks = wanted and not await has_any(work.session, user.id)
        return Authenticated(
            user=user,
            scopes=scopes_of(user.role),
            proved_at=found.proved_at,
            proof=found.proof,
            lacks_second_factor=lacks,
        )

    # Tokens

    async def authenticate_token(self, secret: str, *, client: Client) -> Authenticated | None:
        """Who uses this token, with the scopes it has today. Failures are counted per address."""
        async with self._database.unit_of_work() as work:
            found = await tokens.find(work.session, secret)
        if found is None:
            await self._limits.count(TOKEN_FAILURES_BY_ADDRESS, address_subject(client.address))
            return None
        user = people.to_user(found[0])
        return Authenticated(user=user, scopes=effective_scopes(user.role, found[1]), proved_at=found[2])

    async def add_token(
        self,
        user_id: int,
        name: str,
        scopes: Iterable[Scope],
        *,
        expires_at: datetime | None = None,
        by: Actor = COMMAND_LINE,
    ) -> NewToken:
        """A token for this user. Its secret is in the answer and nowhere else."""
        name, wanted = people.clean_name(name, required=True), frozenset(scopes)
        if not wanted:
            raise InvalidInputError("Choose at least one scope: read, write, admin or reader.", field="scopes")
        async with self._database.unit_of_work() as work:
            owner = people.to_user(await people.get(work.session, user_id))
            if not wanted <= scopes_of(owner.role):
                raise InvalidInputError("The scope admin is for administrators only.", field="scopes")
            created = await tokens.create(work.session, user_id, name, wanted, expires_at)
            told = {"kind": tokens.KIND, "name": name, "scopes": " ".join(sorted(wanted))}
            await audit.record(work.session, Action.CREDENTIAL_ADDED, by, user_id, **told)
        log.info("token_added", msg="A token was made", user_id=user_id, token_id=created.view.id)
        return created

    async def tokens(self, user_id: int) -> tuple[TokenView, ...]:
        async with self._database.unit_of_work() as work:
            return await tokens.views(work.session, user_id)

    async def revoke_token(self, user_id: int, token_id: int, *, by: Actor = COMMAND_LINE) -> None:
        async with self._database.unit_of_work() as work:
            if not 0 < token_id <= people.LARGEST_ID or not await tokens.revoke(work.session, user_id, [token_id]):
                raise NotFoundError("There is no such token.")
            await audit.record(work.session, Action.CREDENTIAL_REVOKED, by, user_id, kind=tokens.KIND)
        log.info("token_revoked", msg="A token was removed", user_id=user_id, token_id=token_id)

    # Users

    async def add_user(
        self, email: str, password: str, *, role: Role = Role.MEMBER, name: str = "", by: Actor = COMMAND_LINE
    ) -> User:
        email, name = people.normalise_email(email), people.clean_name(name)
        password_hash = await self.passwords.hash(validate_password(password))
        async with self._database.unit_of_work() as work:
            await setup.take_turns(work.session)
            row = await people.insert_user(work.session, email, name, password_hash, role)
            await audit.record(work.session, Action.USER_ADDED, by, row.id, role=role)
        log.info("user_added", msg="A user was added", user_id=row.id, role=role)
        return people.to_user(row)

    async def users(self) -> tuple[User, ...]:
        async with self._database.unit_of_work() as work:
            return tuple(people.to_user(row) for row in await people.everybody(work.session))

    async def user(self, user_id: int) -> User:
        async with self._database.unit_of_work() as work:
            return people.to_user(await people.get(work.session, user_id))

    async def user_by_email(self, email: str) -> User:
        async with self._database.unit_of_work() as work:
            row = await people.find_by_email(work.session, people.normalise_email(email))
        if row is None:
            raise NotFoundError("There is no user with this e-mail address. `pressbox user list` shows all.")
        return people.to_user(row)

    async def set_name(self, user_id: int, name: str) -> None:
        """How others see this person; empty is their e-mail address."""
        cleaned = people.clean_name(name, field="display_name")
        async with self._database.unit_of_work() as work:
            (await people.get(work.session, user_id)).name = cleaned

    async def set_language(self, user_id: int, language: str | None) -> None:
        async with self._database.unit_of_work() as work:
            (await people.get(work.session, user_id)).language = language

    async def open_owner(self) -> Authenticated:
        """Who everybody is in the open mode: the first administrator, or an owner without a password."""
        async with self._database.unit_of_work() as work:
            row = await people.first_administrator(work.session)
            if row is None:
                await setup.take_turns(work.session)
                row = await people.first_administrator(work.session) or await people.insert_user(
                    work.session, people.OPEN_OWNER, "", UNUSABLE, Role.ADMIN
                )
            user = people.to_user(row)
        return Authenticated(user=user, scopes=scopes_of(Role.ADMIN))


def _email_subject(email: str) -> str:
    try:
        return people.normalise_email(email)
    except InvalidInputError:
        # Not an address, so nobody has it; it is counted and refused as if it were one.
        return email.strip().lower().replace("\x00", "").encode("utf-8", "replace").decode()
