"""The browsers of people that get push messages, in PostgreSQL. Addresses and keys are sealed."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Select, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.opaque import fingerprint
from pressbox.core.accounts.rows import SessionRow, UserRow
from pressbox.core.app import Credential, CredentialKind
from pressbox.core.config import Settings
from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import Database
from pressbox.core.quotas.quota import HOUR, Quota
from pressbox.core.quotas.store import demand
from pressbox.core.sealing import Seal
from pressbox.delivery.push.rows import PushSubscriptionRow
from pressbox.delivery.push.subscription import PushSubscription, PushTarget

PURPOSE = "push subscriptions"
LONGEST_NAME = 100


async def count_subscriptions(session: AsyncSession, user_id: int) -> int:
    return await session.scalar(select(func.count()).where(PushSubscriptionRow.user_id == user_id)) or 0


SUBSCRIPTIONS = Quota("push_subscriptions", "Browsers that get messages", 10, count=count_subscriptions)
TESTS = Quota("push_tests", "Test messages to browsers", 30, window=HOUR)


@dataclass(frozen=True)
class Device:
    """A browser as its owner recognises it. `host` is the push service that it uses."""

    id: int
    name: str
    host: str
    created_at: datetime


class PushStore:
    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._seal = Seal(settings.secret_keys, PURPOSE)

    async def subscribe(
        self, user_id: int, target: PushTarget, *, name: str, language: str, session_secret: str | None = None
    ) -> int:
        """Let this browser get messages, from now on those of this person alone. Repeating it changes nothing."""
        known = {
            "user_id": user_id,
            "session_hash": fingerprint(session_secret) if session_secret else None,
            "sealed": self._seal.seal(json.dumps(asdict(target)).encode()),
            "host": target.host,
            "name": name[:LONGEST_NAME],
            "language": language,
        }
        statement = insert(PushSubscriptionRow).values(endpoint_hash=_hash(target.endpoint), **known)
        kept = statement.on_conflict_do_update(
            index_elements=["endpoint_hash"], set_={**known, "changed_at": func.now()}
        ).returning(PushSubscriptionRow.id)
        async with self._database.unit_of_work() as work:
            number = (await work.session.execute(kept)).scalar_one()
            await demand(work.session, SUBSCRIPTIONS, user_id)
        return number

    async def find(self, user_id: int, endpoint: str) -> PushSubscription | None:
        """This browser's, if it is this person's."""
        mine = (PushSubscriptionRow.user_id == user_id, PushSubscriptionRow.endpoint_hash == _hash(endpoint))
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(_with_language().where(*mine))).tuples().one_or_none()
        return self._read(*found) if found else None

    async def get_many(self, subscription_ids: Collection[int]) -> dict[int, PushSubscription]:
        """Those of these browsers that get messages now, by their ids."""
        wanted = _with_language().where(PushSubscriptionRow.id == one_of(subscription_ids))
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(wanted)).tuples().all()
        return {row.id: self._read(row, language) for row, language in rows}

    async def load_many(self, user_ids: Collection[int]) -> dict[int, Sequence[PushSubscription]]:
        """All browsers of these people that get messages now. Whoever has none, or is disabled, is left out."""
        wanted = _with_language().where(PushSubscriptionRow.user_id == one_of(user_ids))
        found: dict[int, list[PushSubscription]] = {}
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(wanted.order_by(PushSubscriptionRow.id))).tuples().all()
        for row, language in rows:
            found.setdefault(row.user_id, []).append(self._read(row, language))
        return dict(found)

    async def list(self, user_id: int) -> Sequence[Device]:
        statement = select(PushSubscriptionRow).where(PushSubscriptionRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            rows = await work.session.scalars(statement.order_by(PushSubscriptionRow.id))
            return [Device(row.id, row.name, row.host, row.created_at) for row in rows]

    async def end(self, subscription_id: int, user_id: int) -> bool:
        """Send this browser nothing more; returns whether there was one. Also for one that its push service forgot."""
        async with self._database.unit_of_work() as work:
            ended = await _end(work.session, user_id, [subscription_id])
        return bool(ended)

    async def seal_again(self) -> int:
        """Seal all with the present instance key; returns how many there are."""
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(select(PushSubscriptionRow).with_for_update())).all()
            for row in rows:
                row.sealed = self._seal.seal(self._seal.reveal(row.sealed))
        return len(rows)

    def _read(self, row: PushSubscriptionRow, language: str | None) -> PushSubscription:
        target = PushTarget(**json.loads(self._seal.reveal(row.sealed)))
        return PushSubscription(row.id, row.user_id, target, language or row.language)


def _with_language() -> Select[tuple[PushSubscriptionRow, str | None]]:
    # A session that has run out ends what was made in it, also before its row is swept away.
    alive = PushSubscriptionRow.session_hash.is_(None) | (SessionRow.expires_at > func.now())
    return (
        select(PushSubscriptionRow, UserRow.language)
        .join(UserRow, UserRow.id == PushSubscriptionRow.user_id)
        .outerjoin(SessionRow, SessionRow.token_hash == PushSubscriptionRow.session_hash)
        .where(UserRow.disabled_at.is_(None), UserRow.deleted_at.is_(None), alive)
    )


async def _end(session: AsyncSession, user_id: int, ids: Collection[int]) -> Sequence[int]:
    own = (PushSubscriptionRow.user_id == user_id, PushSubscriptionRow.id == one_of(ids))
    gone = await session.scalars(delete(PushSubscriptionRow).where(*own).returning(PushSubscriptionRow.id))
    return gone.all()


async def _load_credentials(session: AsyncSession, user_id: int) -> Sequence[Credential]:
    rows = await session.scalars(select(PushSubscriptionRow).where(PushSubscriptionRow.user_id == user_id))
    return [Credential(str(row.id), row.name, row.created_at) for row in rows]


async def _revoke(session: AsyncSession, user_id: int, ids: Collection[str]) -> None:
    await _end(session, user_id, [int(one) for one in ids])


BROWSERS = CredentialKind("push", "Browsers that get messages", _load_credentials, _revoke)


def _hash(endpoint: str) -> bytes:
    return hashlib.sha256(endpoint.encode()).digest()
