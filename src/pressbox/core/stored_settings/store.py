"""Settings that were set on pages, as the database keeps them: sealed with the instance key."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.accounts.audit import Action, record
from pressbox.core.accounts.models import Actor
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError
from pressbox.core.sealing import Seal
from pressbox.core.stored_settings.rows import StoredSettingRow

PURPOSE = "settings"

# Which settings there are and when each was changed: another one means that there is something to read.
Revision = tuple[tuple[str, datetime], ...]
NOTHING: Revision = ()


@dataclass(frozen=True)
class Stored:
    """`unreadable` were sealed with a key that this process does not have."""

    revision: Revision
    values: Mapping[str, str]
    unreadable: tuple[str, ...] = ()


class StoredSettings:
    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    async def revision(self) -> Revision:
        statement = select(StoredSettingRow.name, StoredSettingRow.changed_at).order_by(StoredSettingRow.name)
        async with self._database.unit_of_work() as work:
            return tuple((row[0], row[1]) for row in await work.session.execute(statement))

    async def load(self) -> Stored:
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(select(StoredSettingRow).order_by(StoredSettingRow.name))).all()
        values: dict[str, str] = {}
        unreadable = []
        for row in rows:
            try:
                values[row.name] = self._seal().reveal(row.sealed_value).decode()
            except ConfigurationError:
                unreadable.append(row.name)
        return Stored(tuple((row.name, row.changed_at) for row in rows), values, tuple(unreadable))

    async def change(self, section: str, changes: Mapping[str, str | None], actor: Actor) -> None:
        """Set these; None removes one. The audit log names them without their values."""
        seal = self._seal()
        async with self._database.unit_of_work() as work:
            for name, value in changes.items():
                if value is None:
                    await work.session.execute(delete(StoredSettingRow).where(StoredSettingRow.name == name))
                    continue
                fresh = {"sealed_value": seal.seal(value.encode()), "changed_at": func.clock_timestamp()}
                await work.session.execute(
                    insert(StoredSettingRow)
                    .values(name=name, **fresh)
                    .on_conflict_do_update(index_elements=["name"], set_=fresh)
                )
            named = {"set": [n for n, v in changes.items() if v is not None], "removed": _removed(changes)}
            words = {word: ", ".join(names) for word, names in named.items() if names}
            await record(work.session, Action.SETTINGS_CHANGED, actor, None, section=section, **words)

    async def seal_again(self) -> int:
        """Seal every value with the present instance key; return how many there are."""
        seal = self._seal()
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(select(StoredSettingRow).with_for_update())).all()
            for row in rows:
                row.sealed_value = seal.seal(seal.reveal(row.sealed_value))
        return len(rows)

    def _seal(self) -> Seal:
        return Seal(self._settings.secret_keys, PURPOSE)


def _removed(changes: Mapping[str, str | None]) -> list[str]:
    return [name for name, value in changes.items() if value is None]
