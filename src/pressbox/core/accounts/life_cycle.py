"""What changes an account as a whole: its password, role, being disabled, and its end.

Every lasting credential ends with the password and with the account, those of applications too; so whoever changes
accounts needs to know the manifests.
"""

from collections.abc import Collection, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts import audit, ceremonies, devices, links, people, sessions
from pressbox.core.accounts.audit import Action
from pressbox.core.accounts.credentials import HeldCredential, credential_kinds, end_held, load_held
from pressbox.core.accounts.limits import PASSWORD_CHANGE_BY_USER, RateLimits
from pressbox.core.accounts.models import COMMAND_LINE, Actor, Role, User
from pressbox.core.accounts.passwords import UNUSABLE, Passwords, validate_password
from pressbox.core.app import AppManifest
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, InvalidInputError
from pressbox.core.logs import get_logger

log = get_logger(__name__)


class AccountLifeCycle:
    def __init__(self, database: Database, passwords: Passwords, manifests: Sequence[AppManifest]) -> None:
        self._database = database
        self._passwords = passwords
        self._limits = RateLimits(database)
        self._kinds = tuple(credential_kinds(manifests))

    async def credentials(self, user_id: int) -> tuple[HeldCredential, ...]:
        """Everything lasting that opens this person's things."""
        async with self._database.unit_of_work() as work:
            return await load_held(work.session, user_id, self._kinds)

    async def change_password(
        self,
        user_id: int,
        current: str,
        new: str,
        *,
        by: Actor,
        keep: Collection[str] = (),
        keep_session: str | None = None,
        proved: bool = False,
    ) -> None:
        """Replace the password of somebody who knows it; whoever has none, must have proved who they are."""
        validate_password(new, field="new_password")
        await self._limits.count(PASSWORD_CHANGE_BY_USER, str(user_id))
        async with self._database.unit_of_work() as work:
            stored = (await people.get(work.session, user_id)).password_hash
        without_password = stored == UNUSABLE and proved
        if not without_password and not (await self._passwords.check(stored, current)).matches:
            raise InvalidInputError("The current password is wrong.", field="current_password")
        await self._replace_password(user_id, new, Action.PASSWORD_CHANGED, by, keep, keep_session)

    async def set_password(
        self, user_id: int, new: str, *, by: Actor = COMMAND_LINE, action: Action = Action.PASSWORD_SET
    ) -> None:
        """Replace the password without the old one, as an administrator or a link may; ends everything."""
        await self._replace_password(user_id, validate_password(new), action, by, (), None)

    async def _replace_password(
        self, user_id: int, new: str, action: Action, by: Actor, keep: Collection[str], keep_session: str | None
    ) -> None:
        password_hash = await self._passwords.hash(new)
        async with self._database.unit_of_work() as work:
            (await people.get(work.session, user_id)).password_hash = password_hash
            device = by.client.device if keep_session else None
            ended = await self._end_access(work.session, user_id, keep, keep_session, device)
            await audit.record(work.session, action, by, user_id, ended=ended, kept=len(keep))
        log.info("password_changed", msg="A password was changed; what it opened has ended", user_id=user_id)

    async def _end_access(
        self,
        session: AsyncSession,
        user_id: int,
        keep: Collection[str] = (),
        keep_session: str | None = None,
        keep_device: str | None = None,
    ) -> int:
        """End sessions, known devices, links and lasting credentials of all kinds."""
        await sessions.end_all(session, user_id, except_secret=keep_session)
        await links.end_all(session, user_id)
        await ceremonies.end_all(session, user_id)
        await devices.forget_all(session, user_id, except_device=keep_device)
        return await end_held(session, user_id, self._kinds, keep)

    async def set_role(self, user_id: int, role: Role, *, by: Actor = COMMAND_LINE) -> User:
        async with self._database.unit_of_work() as work:
            administrators = await people.lock_administrators(work.session)
            if role is not Role.ADMIN:
                _refuse_last(administrators, user_id)
            row = await people.get(work.session, user_id)
            row.role = role
            await audit.record(work.session, Action.ROLE_CHANGED, by, user_id, role=role)
        log.info("role_changed", msg="A role was changed", user_id=user_id, role=role)
        return people.to_user(row)

    async def disable_user(self, user_id: int, *, by: Actor = COMMAND_LINE) -> User:
        """Lock somebody out at once: sessions and credentials of all kinds end, what they made stays."""
        async with self._database.unit_of_work() as work:
            _refuse_last(await people.lock_administrators(work.session), user_id)
            row = await people.get(work.session, user_id)
            row.disabled_at = row.disabled_at or await people.database_time(work.session)
            ended = await self._end_access(work.session, user_id)
            await audit.record(work.session, Action.USER_DISABLED, by, user_id, ended=ended)
        log.info("user_disabled", msg="A user was disabled", user_id=user_id)
        return people.to_user(row)

    async def enable_user(self, user_id: int, *, by: Actor = COMMAND_LINE) -> User:
        async with self._database.unit_of_work() as work:
            row = await people.get(work.session, user_id)
            row.disabled_at = None
            await audit.record(work.session, Action.USER_ENABLED, by, user_id)
        log.info("user_enabled", msg="A user was enabled", user_id=user_id)
        return people.to_user(row)


def _refuse_last(administrators: set[int], user_id: int) -> None:
    if administrators == {user_id}:
        raise ConflictError("This is the last administrator. Make somebody else an administrator first.")
