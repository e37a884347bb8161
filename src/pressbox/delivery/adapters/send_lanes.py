"""Turns to send, in PostgreSQL: all processes keep the pace of a service, and hear when one was told to wait."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.delivery.adapters.rows import SendLaneRow
from pressbox.delivery.domain.pacing import PATIENCE_SECONDS, Lane, LaneState, plan_return, take_turn
from pressbox.delivery.ports import NoTurnError

# Long enough to gather many for one statement, too short for anybody to notice.
GATHER_SECONDS = 0.02
_MAX_KNOWN = 10_000

# From the states and the present time, in seconds since the epoch, to those states that change.
Decide = Callable[[Mapping[str, LaneState], float], Mapping[str, LaneState]]


class LaneStore(Protocol):
    async def change(self, names: Collection[str], paced: Collection[str], decide: Decide) -> None:
        """Let nobody else change the `paced` ones of these lanes meanwhile. `decide` is called once."""
        ...


@dataclass(frozen=True)
class _Request:
    lanes: Sequence[Lane]
    turn: asyncio.Future[float]


class SendLanes:
    """One per process. Callers that ask at the same time share one transaction."""

    def __init__(self, store: LaneStore) -> None:
        self._store = store
        self._requests: list[_Request] = []
        self._booking: set[asyncio.Task[None]] = set()

    async def wait_turn(self, lanes: Sequence[Lane]) -> None:
        """Wait a moment for the turn, or raise a NoTurnError when it is further away."""
        request = _Request(lanes, asyncio.get_running_loop().create_future())
        self._requests.append(request)
        if len(self._requests) == 1:
            task = asyncio.create_task(self._book())
            self._booking.add(task)
            task.add_done_callback(self._booking.discard)
        wait = await request.turn
        if wait > PATIENCE_SECONDS:
            raise NoTurnError(timedelta(seconds=wait))
        await asyncio.sleep(wait)

    async def block(self, name: str, wait: timedelta) -> None:
        """Let nothing through here until that time has passed, in any process; never shorten it."""

        def decide(states: Mapping[str, LaneState], now: float) -> Mapping[str, LaneState]:
            state = states.get(name, LaneState())
            until = max(state.blocked_until, now + wait.total_seconds())
            return {name: LaneState(state.free_at, until)}

        await self._store.change([name], [name], decide)

    async def _book(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        requests, self._requests = self._requests, []
        try:
            waits: list[float] = []
            lanes = {lane.name: lane.pace for request in requests for lane in request.lanes}
            # Most targets have no pace of their own: of these it only matters whether they are blocked.
            paced = [name for name, pace in lanes.items() if pace.spacing]
            await self._store.change(lanes, paced, lambda states, now: _give_turns(requests, waits, states, now))
            for request, wait in zip(requests, waits, strict=True):
                if not request.turn.done():
                    request.turn.set_result(wait)
        # Every waiting caller raises it, whatever it is.
        except BaseException as error:
            for request in requests:
                if not request.turn.done():
                    request.turn.set_exception(error)
            if not isinstance(error, Exception):
                raise


def _give_turns(
    requests: Sequence[_Request], waits: list[float], states: Mapping[str, LaneState], now: float
) -> Mapping[str, LaneState]:
    current, changed = dict(states), dict[str, LaneState]()
    without_turn: Counter[str] = Counter()
    for request in requests:
        at, after = take_turn(current, request.lanes, now)
        current |= after
        changed |= after
        if at > now + PATIENCE_SECONDS:
            behind = max(without_turn[lane.name] for lane in request.lanes)
            without_turn.update(lane.name for lane in request.lanes)
            at = plan_return(at, behind, request.lanes)
        waits.append(at - now)
    return changed


class SqlLaneStore:
    """One row per lane, under a digest of its name: the host of a server of one's own may be a secret."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: set[str] = set()

    async def change(self, names: Collection[str], paced: Collection[str], decide: Decide) -> None:
        keys = {_digest(name): name for name in names}
        async with self._database.unit_of_work() as work:
            await self._create_rows(work.session, sorted({_digest(name) for name in paced} - self._known))
            row = SendLaneRow
            # In one order, so that two processes never wait for each other.
            locked = select(row.name, row.free_at, row.blocked_until).where(row.name.in_(sorted(keys)))
            found = await work.session.execute(locked.order_by(row.name).with_for_update())
            states = {
                keys[name]: LaneState(free.timestamp(), until.timestamp()) for name, free, until in found.tuples()
            }
            # After the locks: whoever held them may have taken a while.
            now = (await work.session.execute(select(func.clock_timestamp()))).scalar_one().timestamp()
            await _write(work.session, decide(states, now))

    async def _create_rows(self, session: AsyncSession, keys: Sequence[str]) -> None:
        """A lock needs a row."""
        if keys:
            values = [{"name": key, "free_at": _moment(0.0), "blocked_until": _moment(0.0)} for key in keys]
            await session.execute(insert(SendLaneRow).values(values).on_conflict_do_nothing())
            self._known = self._known | set(keys) if len(self._known) < _MAX_KNOWN else set(keys)


async def _write(session: AsyncSession, changed: Mapping[str, LaneState]) -> None:
    if not changed:
        return
    values = [
        {"name": _digest(name), "free_at": _moment(state.free_at), "blocked_until": _moment(state.blocked_until)}
        for name, state in sorted(changed.items())
    ]
    statement = insert(SendLaneRow).values(values)
    new = {"free_at": statement.excluded.free_at, "blocked_until": statement.excluded.blocked_until}
    await session.execute(statement.on_conflict_do_update(index_elements=[SendLaneRow.name], set_=new))


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
