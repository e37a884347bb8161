"""How far back a search looks that comes late, and which of its finds are downloaded."""

from datetime import UTC, datetime, timedelta

from temporalio.testing import ActivityEnvironment

from pressbox.footy.activities.search import SearchActivities
from pressbox.footy.contracts.search import ExecuteSearchInput, FoundClip, SaveDiscoveredInput, SearchDataInput
from pressbox.footy.domain.candidates import CandidateOutcome, FoundVideo, longest_first
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.request_budget import RequestBudget
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


async def test_compilations_and_flashes_are_left_out_before_the_longest_are_chosen() -> None:
    world = FakeWorld()
    world.goals.plant(EVENT, 7)
    search = SearchActivities(world.goals, world.candidates, [FakeSource()], now=lambda: NOON)
    lengths = (140.0, 125.0, 119.0, 90.0, 75.0, 32.0, 28.0, 60.5, 1.0, None, 0.0)
    videos = tuple(
        FoundClip(source="fake", video_page_url=f"https://clips.test/{number}", duration_seconds=length)
        for number, length in enumerate(lengths)
    )
    saved = await ActivityEnvironment().run(
        search.save_discovered_videos, SaveDiscoveredInput(event_id=EVENT, attempt=1, videos=videos)
    )
    chosen = {world.candidates.all[number].video.duration_seconds for number in saved.chosen}
    assert chosen == {60.5, 32.0, 28.0, None, 0.0}
    left_out = {row.video.duration_seconds: row.outcome for row in world.candidates.all.values() if row.outcome.final}
    assert left_out.pop(1.0) is CandidateOutcome.TOO_SHORT
    assert left_out == dict.fromkeys((140.0, 125.0, 119.0, 90.0, 75.0), CandidateOutcome.TOO_LONG)
    reason = next(row.reason for row in world.candidates.all.values() if row.video.duration_seconds == 140)
    assert reason == "140.0 s by its source, at most 60"


def test_of_many_finds_those_that_can_be_clips_are_kept() -> None:
    found = [FoundVideo("fake", f"https://clips.test/{number}", duration_seconds=200.0) for number in range(40)]
    clip = FoundVideo("fake", "https://clips.test/clip", duration_seconds=20.0)
    assert longest_first([*found, clip], 40, FootyPolicy())[0] == clip


async def test_a_fast_clock_looks_back_further_so_that_new_posts_are_not_too_old() -> None:
    world, source = FakeWorld(), FakeSource()
    world.goals.plant(EVENT, 7)
    world.budget.known = RequestBudget(clock_ahead_seconds=300)
    search = SearchActivities(world.goals, world.candidates, [source], budget=world.budget, now=lambda: NOON)
    asked = SearchDataInput(event_id=EVENT, attempt=1, aliases=("Liverpool",), policy=FootyPolicy())
    data = await ActivityEnvironment().run(search.get_twitter_search_data, asked)
    await ActivityEnvironment().run(search.execute_twitter_search, ExecuteSearchInput(search=data))
    assert source.requests[0].max_age >= data.max_age + timedelta(minutes=5)


class PunctualSource(FakeSource):
    """A source whose answers carry the time."""

    clock_ahead_seconds: float | None = None


async def test_without_a_key_the_sources_tell_that_our_clock_is_fast_and_the_goal_says_so() -> None:
    world, slow, right, fast = FakeWorld(), PunctualSource("a"), PunctualSource("b"), PunctualSource("c")
    world.goals.plant(EVENT, 7)
    search = SearchActivities(world.goals, world.candidates, [slow, right, fast], budget=world.budget, now=lambda: NOON)
    asked = SearchDataInput(event_id=EVENT, attempt=1, aliases=("Liverpool",), policy=FootyPolicy())

    async def attempt() -> None:
        data = await ActivityEnvironment().run(search.get_twitter_search_data, asked)
        await ActivityEnvironment().run(search.execute_twitter_search, ExecuteSearchInput(search=data))

    await attempt()
    assert world.goals.wrong_clocks == {}
    slow.clock_ahead_seconds, right.clock_ahead_seconds, fast.clock_ahead_seconds = -4000.0, 240.0, 250.0
    await attempt()
    # One service with a wrong clock of its own decides nothing.
    assert (world.budget.known.clock_ahead_seconds, world.budget.known.clock_by) == (240.0, "b")
    assert world.goals.wrong_clocks == {EVENT: timedelta(seconds=240)}
    await attempt()
    assert right.requests[2].max_age >= right.requests[0].max_age + timedelta(seconds=240)
