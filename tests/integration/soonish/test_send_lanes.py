"""Two processes share the pace of a service, and what one of them was told."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from pressbox.core.db.database import Database
from pressbox.delivery.adapters.rows import SendLaneRow
from pressbox.delivery.adapters.send_lanes import SendLanes, SqlLaneStore
from pressbox.delivery.domain.pacing import LONGEST_WAIT_SECONDS, Lane, Pace
from pressbox.delivery.ports import NoTurnError
from pressbox.soonish.adapters.events import SqlEvents

HOUR = timedelta(hours=1)
# Slow enough that no machine is too slow for it.
SLOW = Lane("host secret.example.org", Pace(HOUR.total_seconds(), burst=5))
UNPACED = Lane("target channel:1", Pace(0.0))


def processes(database: Database) -> tuple[SendLanes, SendLanes]:
    return SendLanes(SqlLaneStore(database)), SendLanes(SqlLaneStore(database))


async def count_turns(*asking: tuple[SendLanes, Lane]) -> int:
    found = await asyncio.gather(*(lanes.wait_turn([lane]) for lanes, lane in asking), return_exceptions=True)
    assert all(outcome is None or isinstance(outcome, NoTurnError) for outcome in found), found
    return sum(outcome is None for outcome in found)


async def test_two_processes_together_keep_the_pace(database: Database) -> None:
    one, other = processes(database)
    assert await count_turns(*((lanes, SLOW) for lanes in (one, other) for _ in range(20))) == 5
    assert await count_turns((one, SLOW), (other, SLOW)) == 0
    assert await count_turns((other, Lane("host of another", SLOW.pace))) == 1, "nobody else waits for it"


async def test_whoever_has_no_turn_hears_when_to_ask_again(database: Database) -> None:
    one, _ = processes(database)
    await count_turns(*((one, SLOW) for _ in range(5)))
    with pytest.raises(NoTurnError) as caught:
        await one.wait_turn([SLOW])
    assert HOUR / 2 < caught.value.wait <= HOUR + timedelta(seconds=LONGEST_WAIT_SECONDS)


async def test_what_one_process_was_told_holds_for_all_and_is_never_shortened(database: Database) -> None:
    one, other = processes(database)
    await one.block(UNPACED.name, HOUR)
    await other.block(UNPACED.name, timedelta(seconds=1))
    with pytest.raises(NoTurnError) as caught:
        await other.wait_turn([UNPACED, Lane("host free", Pace(0.001))])
    assert caught.value.wait > HOUR / 2
    await other.wait_turn([Lane("target channel:2", Pace(0.0))])


async def test_many_at_once_share_one_transaction_and_no_host_is_readable(database: Database) -> None:
    one, _ = processes(database)
    lane = Lane("host secret.example.org", Pace(0.001, burst=100))
    targets = [Lane(f"target channel:{number}", Pace(0.0)) for number in range(50)]
    await asyncio.gather(*(one.wait_turn([target, lane]) for target in targets))
    async with database.unit_of_work() as work:
        names = (await work.session.scalars(select(SendLaneRow.name))).all()
    assert len(names) == 1, "targets without a pace leave no row"
    assert "secret" not in names[0]


async def test_two_processes_with_the_same_lanes_in_another_order_do_not_wait_for_each_other(
    database: Database,
) -> None:
    one, other = processes(database)
    a, b = Lane("a", Pace(0.0001, burst=1000)), Lane("b", Pace(0.0001, burst=1000))
    for _ in range(5):
        await asyncio.gather(*(one.wait_turn([a, b]) for _ in range(5)), *(other.wait_turn([b, a]) for _ in range(5)))


async def test_lanes_that_nobody_uses_are_removed_and_made_again(database: Database) -> None:
    one, _ = processes(database)
    await one.wait_turn([SLOW])
    long_ago = datetime.now(UTC) - timedelta(days=30)
    async with database.unit_of_work() as work:
        await work.session.execute(update(SendLaneRow).values(free_at=long_ago, blocked_until=long_ago))
    await SqlEvents(database).purge_deleted(datetime.now(UTC) - timedelta(days=7))
    async with database.unit_of_work() as work:
        assert (await work.session.scalars(select(SendLaneRow.name))).all() == []
    assert await count_turns(*((one, SLOW) for _ in range(6))) == 5
