"""The key pair by which push services know this instance (VAPID): made once, sealed with the instance key."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.sealing import Seal
from pressbox.delivery.push.rows import PushKeyRow

PURPOSE = "push key"
THE_ONE = 1


@dataclass(frozen=True)
class KeyPair:
    """`public_key` is what browsers are given, base64url; `private_pem` signs."""

    public_key: str
    private_pem: bytes


class PushKeys:
    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._loaded: KeyPair | None = None

    async def load(self) -> KeyPair:
        """The key pair, made by whoever asks first. Of two that make one at the same time, one counts."""
        if self._loaded is None:
            row = await self._find() or await self._make()
            self._loaded = KeyPair(row.public_key, self._seal().reveal(row.sealed_private_key))
        return self._loaded

    async def seal_again(self) -> int:
        """Seal it with the present instance key; returns how many there were."""
        seal = self._seal()
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(select(PushKeyRow).with_for_update())).all()
            for row in rows:
                row.sealed_private_key = seal.seal(seal.reveal(row.sealed_private_key))
        return len(rows)

    async def _find(self) -> PushKeyRow | None:
        async with self._database.unit_of_work() as work:
            return await work.session.get(PushKeyRow, THE_ONE)

    async def _make(self) -> PushKeyRow:
        from webpush.vapid import VAPID

        private_pem, _, public_key = VAPID.generate_keys()
        made = {"id": THE_ONE, "public_key": public_key, "sealed_private_key": self._seal().seal(private_pem)}
        async with self._database.unit_of_work() as work:
            await work.session.execute(insert(PushKeyRow).values(made).on_conflict_do_nothing())
        found = await self._find()
        assert found is not None
        return found

    def _seal(self) -> Seal:
        return Seal(self._settings.secret_keys, PURPOSE)
