"""The engine and the unit of work. Only this module commits.

A unit of work is one transaction: one request, one activity, one command. What changed for readers is noted with
`changed()`; the notes are written as the last statement before the commit, so that a browser can be told exactly
what is durable, in the order in which it became so.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from psycopg.errors import InvalidSchemaName, UndefinedTable
from sqlalchemy import URL, func, insert, make_url, select
from sqlalchemy.exc import DataError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from pressbox.core.db.changes import CHANGES_CHANNEL, CHANGES_LOCK, ChangeRow
from pressbox.core.errors import PressboxError, TransientError, UnstorableError
from pressbox.core.tracing import trace_statements

# Classes of SQLSTATE that blame the value and not the server: data exception, program limit exceeded. The second has
# the index row that is too large and the statement that is too complex, and the driver calls both operational.
_UNSTORABLE = ("22", "54")
_TRANSIENT = {
    "40": "The database could not finish two pieces of work side by side.",
    "53": "The database is short of memory, disk space or connections.",
}


# A process that stands still in the middle of a transaction, as on a laptop that sleeps, keeps its locks: rows that
# nobody else can take, and the turn of all who write changes. The server ends such a transaction after this time.
LONGEST_STANDSTILL = "60s"

# Where a session carries the limits per person of the settings.
QUOTA_LIMITS = "quota_limits"


class UnitOfWork:
    """One transaction. Use `session` for statements, `changed` for what readers must hear of."""

    def __init__(self, session: AsyncSession) -> None:
        self.session = session
        self._changes: dict[tuple[str, str], None] = {}

    def changed(self, kind: str, key: str) -> None:
        """Note that the thing `key` of this `kind` looks different after the commit."""
        self._changes[(kind, key)] = None

    async def write_changes(self) -> None:
        if not self._changes:
            return
        # Sequence numbers are handed out at insert but become visible at commit. Writers of changes therefore take
        # turns from here to the commit: a reader that saw number n never misses a smaller one.
        await self.session.execute(select(func.pg_advisory_xact_lock(CHANGES_LOCK)))
        rows = [{"kind": kind, "key": key} for kind, key in self._changes]
        inserted = await self.session.execute(insert(ChangeRow).returning(ChangeRow.id), rows)
        last = max(inserted.scalars())
        for kind in {kind for kind, _ in self._changes}:
            await self.session.execute(select(func.pg_notify(CHANGES_CHANNEL, f"{last} {kind}")))


class Database:
    """One engine per process."""

    def __init__(
        self, url: str, *, pool_size: int = 10, pool_seconds: float = 15, quotas: Mapping[str, int] | None = None
    ) -> None:
        self.url = make_url(url).set(drivername="postgresql+psycopg")
        self.engine: AsyncEngine = create_async_engine(
            self.url,
            pool_size=pool_size,
            max_overflow=0,
            pool_pre_ping=True,
            pool_timeout=pool_seconds,
            connect_args=_connect_args(self.url),
            # The text of a database error ends in logs and histories; values do not belong there.
            hide_parameters=True,
        )
        trace_statements(self.engine.sync_engine)
        self._sessions = async_sessionmaker(
            self.engine, expire_on_commit=False, info={QUOTA_LIMITS: dict(quotas or {})}
        )

    @property
    def driver_url(self) -> str:
        """For psycopg itself, which LISTEN needs."""
        return self.url.set(drivername="postgresql").render_as_string(hide_password=False)

    @asynccontextmanager
    async def unit_of_work(self) -> AsyncIterator[UnitOfWork]:
        """Commit at the end of the block; roll back when it raises.

        A server that does not answer is a TransientError, a value that it cannot hold an UnstorableError.
        """
        try:
            async with self._sessions() as session, session.begin():
                work = UnitOfWork(session)
                yield work
                await work.write_changes()
        except PoolTimeoutError as error:
            raise TransientError("All connections to the database are in use.") from error
        except DBAPIError as error:
            ours = _classify(error)
            if ours is None:
                raise
            raise ours from error
        except UnicodeEncodeError as error:
            # The driver raises it as it is.
            raise _unstorable_error() from error

    async def close(self) -> None:
        await self.engine.dispose()


def _connect_args(url: URL) -> dict[str, str]:
    """Options that somebody has put into the address win."""
    if "options" in url.query:
        return {}
    return {"options": f"-c idle_in_transaction_session_timeout={LONGEST_STANDSTILL}"}


def _classify(error: DBAPIError) -> PressboxError | None:
    """Say by its SQLSTATE whom an error of the database blames: the server, the value, or (None) our statement."""
    state = str(getattr(error.orig, "sqlstate", None) or "")
    if state.startswith(_UNSTORABLE):
        return _unstorable_error()
    if isinstance(error, OperationalError):
        return TransientError(_TRANSIENT.get(state[:2], "The database does not answer."))
    if error.connection_invalidated:
        return TransientError("The connection to the database was lost.")
    if isinstance(error.orig, UndefinedTable | InvalidSchemaName):
        return TransientError("The database is not migrated yet. Run `pressbox migrate`.")
    # What the driver itself refuses has no SQLSTATE: a NUL character, a date before its calendar.
    return _unstorable_error() if isinstance(error, DataError) and not state else None


def _unstorable_error() -> UnstorableError:
    return UnstorableError("A value has characters or a size that cannot be stored.")
