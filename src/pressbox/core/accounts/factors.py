"""Second factors of people: authenticator app, recovery codes, passkeys. What pages and commands do with them.

Whoever has one cannot sign in by the password alone. A passkey asks for finger or PIN and is both factors at once.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts import audit, ceremonies, passkey_store, passkeys, people, recovery_codes, sessions, totp
from pressbox.core.accounts.audit import Action
from pressbox.core.accounts.ceremonies import Kind
from pressbox.core.accounts.factor_demand import has_any, is_demanded
from pressbox.core.accounts.factor_rows import AuthenticatorAppRow
from pressbox.core.accounts.limits import Limit, RateLimits, address_subject
from pressbox.core.accounts.models import Actor, Client, User
from pressbox.core.accounts.passkey_store import PasskeyView
from pressbox.core.accounts.sign_in_ways import relying_party
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError, ConflictError, GoneError, InvalidInputError, NotFoundError
from pressbox.core.logs import get_logger
from pressbox.core.qr import qr_image
from pressbox.core.sealing import Seal

log = get_logger(__name__)

PURPOSE = "second factors"
# Six digits can be guessed, so tries are few. A recovery code or a passkey cannot: they still let the owner in while
# somebody who has the password uses up the tries.
CODES_BY_PERSON = Limit("codes-person", 20, timedelta(minutes=15))
CODES_BY_PERSON_AND_ADDRESS = Limit("codes-person-address", 8, timedelta(minutes=15))
CODES_BY_ADDRESS = Limit("codes-address", 40, timedelta(minutes=15))
PASSKEYS_BY_ADDRESS = Limit("passkeys-address", 60, timedelta(minutes=10))

WRONG_CODE = "This code is not right, or was used already. Wait for the next one, or take a recovery code."
SIGN_IN_AGAIN = "This took too long. Sign in again."


@dataclass(frozen=True)
class Factors:
    """What somebody has, as their account page shows it."""

    app_since: datetime | None
    recovery_codes: int
    passkeys: tuple[PasskeyView, ...]
    demanded: bool
    # People of a provider or a proxy may have none.
    has_password: bool

    @property
    def any(self) -> bool:
        return self.app_since is not None or bool(self.passkeys)


@dataclass(frozen=True)
class PendingApp:
    """A secret that waits for its first code."""

    secret: str
    image: str


class SecondFactors:
    """`clock` is what authenticator apps go by."""

    def __init__(self, database: Database, settings: Settings, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock
        self._limits = RateLimits(database)

    @property
    def passkeys_possible(self) -> bool:
        return relying_party(self._settings.web.public_url) is not None

    async def has_any(self, user_id: int) -> bool:
        async with self._database.unit_of_work() as work:
            return await has_any(work.session, user_id)

    async def of(self, user: User) -> Factors:
        async with self._database.unit_of_work() as work:
            app = await work.session.get(AuthenticatorAppRow, user.id)
            return Factors(
                app_since=app.confirmed_at if app else None,
                recovery_codes=await recovery_codes.count_unused(work.session, user.id),
                passkeys=await passkey_store.views(work.session, user.id),
                has_password=user.has_password,
                demanded=is_demanded(self._settings.accounts.second_factor, user.role),
            )

    # Authenticator app

    async def seal_again(self) -> int:
        """Seal every secret with the present instance key; return how many there are."""
        seal = self._seal()
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(select(AuthenticatorAppRow).with_for_update())).all()
            for row in rows:
                row.sealed_secret = seal.seal(seal.reveal(row.sealed_secret))
        return len(rows)

    async def begin_app(self, user_id: int) -> None:
        """A new secret that waits for its first code; an older one that waited is void."""
        sealed = self._seal().seal(totp.new_secret().encode())
        fresh = insert(AuthenticatorAppRow).values(user_id=user_id, sealed_secret=sealed)
        statement = fresh.on_conflict_do_update(
            index_elements=[AuthenticatorAppRow.user_id],
            set_={"sealed_secret": sealed, "last_step": 0, "created_at": func.now()},
            where=AuthenticatorAppRow.confirmed_at.is_(None),
        ).returning(AuthenticatorAppRow.user_id)
        async with self._database.unit_of_work() as work:
            if (await work.session.execute(statement)).first() is None:
                raise ConflictError("An authenticator app is set up already. Switch it off first.")

    async def pending_app(self, user: User) -> PendingApp:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(AuthenticatorAppRow, user.id)
        if row is None or row.confirmed_at is not None:
            raise NotFoundError("No authenticator app is being set up. Begin on the account page.")
        secret = self._reveal(row.sealed_secret)
        return PendingApp(totp.grouped(secret), qr_image(totp.provisioning_uri(secret, user.email)))

    async def confirm_app(self, user_id: int, code: str, *, actor: Actor, keep_session: str | None) -> tuple[str, ...]:
        """Switch it on with a first code. The answer has new recovery codes if there were none."""
        await self._count_try(user_id, actor.client)
        async with self._database.unit_of_work() as work:
            row = await work.session.get(AuthenticatorAppRow, user_id, with_for_update=True)
            if row is None or row.confirmed_at is not None:
                raise ConflictError("No authenticator app is being set up. Begin on the account page.")
            secret = self._reveal(row.sealed_secret)
            step = totp.matching_step(secret, _digits(code), self._clock(), last_step=row.last_step)
            if step is None:
                raise InvalidInputError(
                    "This code does not fit. Check that the clock of your device is right, and take the next code.",
                    field="code",
                )
            row.last_step, row.confirmed_at = step, await people.database_time(work.session)
            codes = await self._after_adding(work.session, user_id, actor, keep_session, "app")
        await self._forget_tries(user_id, actor.client)
        return codes

    async def remove_app(self, user_id: int, *, actor: Actor) -> None:
        async with self._database.unit_of_work() as work:
            statement = delete(AuthenticatorAppRow).where(AuthenticatorAppRow.user_id == user_id)
            if (await work.session.execute(statement.returning(AuthenticatorAppRow.user_id))).first() is None:
                raise NotFoundError("There is no authenticator app.")
            await self._after_removing(work.session, user_id, actor, "app")

    async def renew_recovery_codes(self, user_id: int, *, actor: Actor) -> tuple[str, ...]:
        async with self._database.unit_of_work() as work:
            if not await has_any(work.session, user_id):
                raise ConflictError("Recovery codes go with a second factor. Set one up first.")
            codes = await recovery_codes.replace_all(work.session, user_id)
            await audit.record(work.session, Action.SECOND_FACTOR_ADDED, actor, user_id, kind="recovery codes")
        return codes

    async def remove_all(self, user_id: int, *, actor: Actor) -> None:
        """For somebody who lost their device: an administrator or whoever runs the machine does it for them."""
        async with self._database.unit_of_work() as work:
            await people.get(work.session, user_id)
            if not await has_any(work.session, user_id):
                raise ConflictError("This account has no second factor.")
            await work.session.execute(delete(AuthenticatorAppRow).where(AuthenticatorAppRow.user_id == user_id))
            await passkey_store.remove_all(work.session, user_id)
            await self._after_removing(work.session, user_id, actor, "all")
        log.info("second_factors_removed", msg="The second factors of somebody were removed", user_id=user_id)

    async def check_code(self, user_id: int, code: str, *, client: Client) -> None:
        """Use up a code of the app or a recovery code, or raise."""
        if recovery_codes.normalise(code) is not None:
            await self._limits.count(CODES_BY_ADDRESS, address_subject(client.address))
            async with self._database.unit_of_work() as work:
                accepted = await recovery_codes.use(work.session, user_id, code)
                if accepted:
                    actor = Actor(user_id, client)
                    await audit.record(work.session, Action.RECOVERY_CODE_USED, actor, user_id)
        else:
            await self._count_try(user_id, client)
            accepted = await self._use_app_code(user_id, _digits(code))
        if not accepted:
            async with self._database.unit_of_work() as work:
                await audit.record(work.session, Action.CODE_REFUSED, Actor(None, client), user_id)
            raise InvalidInputError(WRONG_CODE, field="code")
        await self._forget_tries(user_id, client)

    async def _use_app_code(self, user_id: int, code: str) -> bool:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(AuthenticatorAppRow, user_id)
            if row is None or row.confirmed_at is None:
                return False
            secret = self._reveal(row.sealed_secret)
            step = totp.matching_step(secret, code, self._clock(), last_step=row.last_step)
            if step is None:
                return False
            # Two tabs with one code: whoever comes second finds the step used.
            statement = (
                update(AuthenticatorAppRow)
                .where(AuthenticatorAppRow.user_id == user_id, AuthenticatorAppRow.last_step < step)
                .values(last_step=step)
                .returning(AuthenticatorAppRow.user_id)
            )
            return (await work.session.execute(statement)).first() is not None

    # The sign-in that waits for the second factor

    async def begin_second_step(self, user_id: int, target: str) -> str:
        """The secret for the cookie of a browser in which the password was right."""
        async with self._database.unit_of_work() as work:
            return await ceremonies.begin(work.session, Kind.SECOND_FACTOR, user_id=user_id, target=target)

    async def waiting(self, secret: str) -> tuple[User, str]:
        """Who waits in this browser, and where they wanted to go."""
        async with self._database.unit_of_work() as work:
            found = await ceremonies.look(work.session, Kind.SECOND_FACTOR, secret)
            if found is None or found.user_id is None:
                raise GoneError(SIGN_IN_AGAIN)
            return people.to_user(await people.get(work.session, found.user_id)), found.detail["target"]

    async def end_second_step(self, secret: str) -> None:
        """Use it up: raise when another tab was first."""
        async with self._database.unit_of_work() as work:
            if await ceremonies.finish(work.session, Kind.SECOND_FACTOR, secret) is None:
                raise GoneError(SIGN_IN_AGAIN)

    # Passkeys

    async def begin_passkey(self, user: User) -> tuple[str, str]:
        """The secret for the browser's cookie, and JSON for its script."""
        party = passkeys.require_relying_party(self._settings.web.public_url)
        challenge = passkeys.new_challenge()
        async with self._database.unit_of_work() as work:
            handle = await passkey_store.user_handle(work.session, user.id)
            known = await passkey_store.credential_ids(work.session, user.id)
            secret = await ceremonies.begin(
                work.session,
                Kind.PASSKEY_REGISTRATION,
                user_id=user.id,
                challenge=_text(challenge),
                handle=_text(handle),
            )
        options = passkeys.registration_options(
            party, challenge, user_handle=handle, email=user.email, name=user.name, known=known
        )
        return secret, options

    async def add_passkey(
        self, user_id: int, secret: str, name: str, answer: str, *, actor: Actor, keep_session: str | None
    ) -> tuple[str, ...]:
        """Keep a new passkey. The answer has new recovery codes if there were none."""
        party = passkeys.require_relying_party(self._settings.web.public_url)
        name = people.clean_name(name, required=True)
        async with self._database.unit_of_work() as work:
            begun = await ceremonies.finish(work.session, Kind.PASSKEY_REGISTRATION, secret)
        if begun is None or begun.user_id != user_id:
            raise ConflictError("This took too long, or was begun in another browser. Add the passkey again.")
        new = passkeys.check_registration(party, _bytes(begun.detail["challenge"]), answer)
        async with self._database.unit_of_work() as work:
            await passkey_store.add(work.session, user_id, _bytes(begun.detail["handle"]), name, new)
            return await self._after_adding(work.session, user_id, actor, keep_session, "passkey")

    async def remove_passkey(self, user_id: int, passkey_id: int, *, actor: Actor) -> None:
        async with self._database.unit_of_work() as work:
            known = 0 < passkey_id <= people.LARGEST_ID
            if not known or not await passkey_store.remove(work.session, user_id, passkey_id):
                raise NotFoundError("There is no such passkey.")
            await self._after_removing(work.session, user_id, actor, "passkey")

    async def begin_passkey_sign_in(self, client: Client, *, user_id: int | None = None) -> tuple[str, str]:
        """With a person, only that one's passkeys are offered: the second factor, or a proof."""
        party = passkeys.require_relying_party(self._settings.web.public_url)
        await self._limits.count(PASSKEYS_BY_ADDRESS, address_subject(client.address))
        challenge = passkeys.new_challenge()
        async with self._database.unit_of_work() as work:
            known = await passkey_store.credential_ids(work.session, user_id) if user_id is not None else ()
            secret = await ceremonies.begin(
                work.session, Kind.PASSKEY_SIGN_IN, user_id=user_id, challenge=_text(challenge)
            )
        return secret, passkeys.sign_in_options(party, challenge, known=known)

    async def check_passkey(self, secret: str, answer: str, *, client: Client, user_id: int | None = None) -> User:
        """Whose passkey it is. With a person, it must be theirs, and the challenge must have been for them."""
        party = passkeys.require_relying_party(self._settings.web.public_url)
        await self._limits.count(PASSKEYS_BY_ADDRESS, address_subject(client.address))
        async with self._database.unit_of_work() as work:
            begun = await ceremonies.finish(work.session, Kind.PASSKEY_SIGN_IN, secret)
        if begun is None or begun.user_id != user_id:
            raise passkeys.refused()
        credential = passkeys.parse_sign_in(answer)
        async with self._database.unit_of_work() as work:
            stored = await passkey_store.find(work.session, credential.raw_id)
            if stored is None or (user_id is not None and stored.user_id != user_id):
                raise passkeys.refused()
            count = passkeys.check_sign_in(party, _bytes(begun.detail["challenge"]), credential, stored)
            row = await people.get(work.session, stored.user_id)
            if row.disabled_at is not None or not await passkey_store.note_use(work.session, stored.id, count):
                raise passkeys.refused()
            return people.to_user(row)

    async def _after_adding(
        self, session: AsyncSession, user_id: int, actor: Actor, keep_session: str | None, kind: str
    ) -> tuple[str, ...]:
        """Sessions that began without the new factor end; recovery codes come with the first one."""
        await sessions.end_all(session, user_id, except_secret=keep_session)
        await audit.record(session, Action.SECOND_FACTOR_ADDED, actor, user_id, kind=kind)
        if await recovery_codes.count_unused(session, user_id):
            return ()
        return await recovery_codes.replace_all(session, user_id)

    async def _after_removing(self, session: AsyncSession, user_id: int, actor: Actor, kind: str) -> None:
        await audit.record(session, Action.SECOND_FACTOR_REMOVED, actor, user_id, kind=kind)
        if not await has_any(session, user_id):
            await recovery_codes.remove_all(session, user_id)
            await ceremonies.end_all(session, user_id)

    async def _count_try(self, user_id: int, client: Client) -> None:
        address = address_subject(client.address)
        await self._limits.count(CODES_BY_ADDRESS, address)
        await self._limits.count(CODES_BY_PERSON_AND_ADDRESS, f"{user_id} {address}")
        await self._limits.count(CODES_BY_PERSON, str(user_id))

    async def _forget_tries(self, user_id: int, client: Client) -> None:
        await self._limits.forget(CODES_BY_PERSON_AND_ADDRESS, f"{user_id} {address_subject(client.address)}")
        await self._limits.forget(CODES_BY_PERSON, str(user_id))

    def _reveal(self, sealed: bytes) -> str:
        try:
            return self._seal().reveal(sealed).decode()
        except ConfigurationError as error:
            log.warning("second_factor_unreadable", msg="A secret was sealed with another instance key")
            raise ConflictError(
                "Your authenticator app was set up under another instance key. Use a recovery code or a passkey, then "
                "switch it off and set it up again."
            ) from error

    def _seal(self) -> Seal:
        return Seal(self._settings.secret_keys, PURPOSE)


def _digits(code: str) -> str:
    """As typed, without the gap that apps show in the middle."""
    return code.replace(" ", "").replace("\u00a0", "")


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
