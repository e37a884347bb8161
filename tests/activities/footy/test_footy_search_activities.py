"""How far back a search looks that comes late."""

from datetime import UTC, datetime, timedelta

from temporalio.testing import ActivityEnvironment

from pressbox.footy.activities.search import SearchActivities
from pressbox.footy.contracts.search import ExecuteSearchInput, SearchDataInput
from pressbox.footy.domain.policy import FootyPolicy
from tests.fakes.footy import FakeSource, FakeWorld

EVENT = "7_40_234_Goal_1"
NOON = datetime(2026, 8, 15, 12, 0, tzinfo=UTC)


async def test_a_search_whose_first_try_died_looks_back_as_far_as_that_one() -> None:
    world, source, clock = FakeWorld(), FakeSource(), [NOON]
    world.goals.plant(EVENT, 7)
    world.goals.all[EVENT].searched_since = NOON - timedelta(minutes=10)
    search = SearchActivities(world.goals, world.candidates, [source], now=lambda: clock[-1])
    asked = SearchDataInput(event_id=EVENT, attempt=1, aliases=("Liverpool",), policy=FootyPolicy())
    data = await ActivityEnvironment().run(search.get_twitter_search_data, asked)
    wanted = ExecuteSearchInput(search=data, policy=FootyPolicy())
    clock.append(NOON + timedelta(minutes=2))
    # The first try has told the database that it searched, and nobody else.
    world.goals.all[EVENT].searched_since = NOON + timedelta(minutes=1)
    await ActivityEnvironment().run(search.execute_twitter_search, wanted)
    assert clock[-1] - source.requests[0].max_age <= NOON - timedelta(minutes=10)
