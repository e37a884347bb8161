"""The end of an account: an export of everything that is theirs, and its deletion in all applications."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date, datetime
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from sqlalchemy import Column, Table, delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts import audit, people
from pressbox.core.accounts.audit import Action
from pressbox.core.accounts.factor_rows import ExternalIdentityRow, PasskeyRow
from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import COMMAND_LINE, Actor
from pressbox.core.accounts.passwords import UNUSABLE
from pressbox.core.accounts.rows import AuditRow, SessionRow, TokenRow, UserRow
from pressbox.core.app import AppManifest, PersonalData, Resources
from pressbox.core.db.base import Base
from pressbox.core.logs import get_logger
from pressbox.core.progress.forgetting import forget_person
from pressbox.core.spoilers.rows import RevealRow, SpoilerChoiceRow
from pressbox.core.today.rows import FrontPageRow

log = get_logger(__name__)

Rows = Sequence[Mapping[str, Any]]


class AccountEnding:
    def __init__(self, resources: Resources, life_cycle: AccountLifeCycle, manifests: Sequence[AppManifest]) -> None:
        self._resources = resources
        self._database = resources.database
        self.life_cycle = life_cycle
        self._applications: dict[str, PersonalData] = {
            manifest.name: manifest.personal_data() for manifest in manifests if manifest.personal_data is not None
        }

    async def export(self, user_id: int, *, by: Actor = COMMAND_LINE) -> bytes:
        """A zip of JSON files: one for each kind of thing, in a folder per application. No secrets are in it."""
        packed = BytesIO()
        with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
            async for name, rows in self._files(user_id):
                content = json.dumps([dict(row) for row in rows], ensure_ascii=False, indent=2, default=_plain)
                archive.writestr(f"{name}.json", content)
        async with self._database.unit_of_work() as work:
            await audit.record(work.session, Action.DATA_EXPORTED, by, user_id)
        return packed.getvalue()

    async def delete(self, user_id: int, *, by: Actor = COMMAND_LINE) -> None:
        """Delete the account with everything that is theirs alone. Repeating it after a failure is fine."""
        # First nobody can act in their name any more; this also refuses for the last administrator.
        await self.life_cycle.disable_user(user_id, by=by)
        unfinished: set[str] = set()
        for personal in self._applications.values():
            unfinished.update(await personal.erase(self._resources, user_id))
        async with self._database.unit_of_work() as work:
            row = await people.get(work.session, user_id)
            if unfinished:
                # What others still have to hear of hangs on the row; it stays without a name until that is over.
                row.email, row.name, row.password_hash = f"deleted-{user_id}@deleted.invalid", "", UNUSABLE
                row.language, row.deleted_at = None, await people.database_time(work.session)
                await work.session.flush()
                await _delete_rows(work.session, user_id, unfinished)
            else:
                await work.session.delete(row)
            await forget_person(work, user_id)
            await audit.make_anonymous(work.session, user_id)
            actor = by if by.user_id != user_id else Actor(user_id, COMMAND_LINE.client)
            await audit.record(work.session, Action.USER_DELETED, actor, user_id, by_owner=by.user_id == user_id)
        log.info("user_deleted", msg="An account was deleted", user_id=user_id)

    async def _files(self, user_id: int) -> AsyncIterator[tuple[str, Rows]]:
        async with self._database.unit_of_work() as work:
            for name, statement in _own(user_id).items():
                yield name, [row._asdict() for row in await work.session.execute(statement)]
        credentials = await self.life_cycle.credentials(user_id)
        yield "credentials", [{"kind": one.kind.name, **vars(one.credential)} for one in credentials]
        for application, personal in self._applications.items():
            for name, rows in (await personal.export(self._resources, user_id)).items():
                yield f"{application}/{name}", rows


def personal_columns() -> list[tuple[Table, Column[Any]]]:
    """Every column of every table that names a person by a foreign key."""
    return [
        (table, key.parent)
        for table in Base.metadata.sorted_tables
        for key in table.foreign_keys
        if key.target_fullname == "core.users.id"
    ]


async def _delete_rows(session: AsyncSession, user_id: int, unfinished: set[str]) -> None:
    for table, column in personal_columns():
        if table.fullname not in unfinished:
            await session.execute(delete(table).where(column == user_id))


def _own(user_id: int) -> dict[str, Any]:
    user, session, token = UserRow, SessionRow, TokenRow
    return {
        "account": select(user.id, user.email, user.name, user.role, user.language, user.created_at).where(
            user.id == user_id
        ),
        "sessions": select(session.user_agent, session.created_at, session.last_seen_at, session.expires_at).where(
            session.user_id == user_id
        ),
        "tokens": select(token.name, token.hint, token.scopes, token.created_at, token.last_used_at).where(
            token.user_id == user_id
        ),
        "passkeys": select(PasskeyRow.name, PasskeyRow.created_at, PasskeyRow.last_used_at).where(
            PasskeyRow.user_id == user_id
        ),
        "sign-in-providers": select(ExternalIdentityRow.provider, ExternalIdentityRow.subject).where(
            ExternalIdentityRow.user_id == user_id
        ),
        "spoilers": select(SpoilerChoiceRow.mode, SpoilerChoiceRow.minutes).where(SpoilerChoiceRow.user_id == user_id),
        "looked-at": select(RevealRow.subject, RevealRow.revealed_at).where(RevealRow.user_id == user_id),
        "first-page": select(FrontPageRow.sections, FrontPageRow.hidden).where(FrontPageRow.user_id == user_id),
        "audit-log": select(AuditRow.at, AuditRow.action, AuditRow.address, AuditRow.agent, AuditRow.detail).where(
            AuditRow.actor_id == user_id
        ),
    }


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime | date) else str(value)
