"""What people see, on real PostgreSQL: days, pages, searches by name, the trail of a goal, teams and sources."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.footy.contracts.download import SettledCandidate
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.fixtures import FixtureStatus, League, Team
from pressbox.footy.domain.goals import SearchEnd
from pressbox.footy.domain.names import search_words
from pressbox.footy.ports.storage import SourceAnswer
from pressbox.footy.readiness import check_readiness
from pressbox.footy.settings import FootySettings, JudgeKind
from pressbox.footy.web.days import by_competition
from tests.integration.footy.footy_world import START, World, goal, match, uploaded, video, with_goals

DAY = START.date()


async def test_the_date_strip_has_every_day_and_counts_what_stands(world: World) -> None:
    await world.confirmed_goal()
    await world.ingest(match(2, status=FixtureStatus.NOT_STARTED, kickoff=START + timedelta(days=1)))
    days = await world.matches.load_days(DAY - timedelta(days=1), DAY + timedelta(days=2))
    assert [(day.fixtures, day.live, day.goals) for day in days] == [(0, 0, 0), (1, 1, 1), (1, 0, 0), (0, 0, 0)]
    await world.poll(match(), times=3)
    days = await world.matches.load_days(DAY, DAY)
    assert [day.goals for day in days] == [0]


@pytest.mark.parametrize(
    ("zone", "kickoffs", "counted"),
    [
        # Late in the evening of UTC it is the next day in Tokyo, and early in the morning still the day before in Lima.
        ("UTC", ["2026-10-03T23:30", "2026-10-03T01:00"], [0, 2, 0]),
        ("Asia/Tokyo", ["2026-10-03T23:30", "2026-10-03T01:00"], [0, 1, 1]),
        ("America/Lima", ["2026-10-03T23:30", "2026-10-03T01:00"], [1, 1, 0]),
        # The day on which clocks go back has 25 hours.
        ("Europe/Berlin", ["2026-10-24T22:30", "2026-10-25T22:30", "2026-10-25T23:30"], [0, 2, 1]),
    ],
)
async def test_the_date_strip_counts_the_days_of_the_reader(
    world: World, zone: str, kickoffs: list[str], counted: list[int]
) -> None:
    begins = [datetime.fromisoformat(kickoff).replace(tzinfo=UTC) for kickoff in kickoffs]
    await world.ingest(*(match(number, kickoff=kickoff) for number, kickoff in enumerate(begins, 1)))
    middle = begins[-1].date()
    days = await world.matches.load_days(middle - timedelta(days=1), middle + timedelta(days=1), ZoneInfo(zone))
    assert [(day.day, day.fixtures) for day in days] == [
        (middle + timedelta(days=shift), count) for shift, count in zip((-1, 0, 1), counted, strict=True)
    ]


async def test_fixtures_of_a_day_come_by_competition_and_page_by_page(world: World) -> None:
    liga = League(140, "La Liga", "Spain")
    await world.ingest(
        match(5), match(1, league=liga), match(3, kickoff=START - timedelta(hours=2)), match(4, league=liga)
    )
    first = await world.matches.load_fixtures(DAY, limit=3)
    second = await world.matches.load_fixtures(DAY, after=first.after, limit=3)
    found = [*first.items, *second.items]
    assert [fixture.fixture_id for fixture in found] == [1, 4, 3, 5]
    assert second.after is None
    groups = [(group.name, len(group.fixtures)) for group in by_competition(found)]
    assert groups == [("La Liga", 2), ("Premier League", 2)]


async def test_a_day_begins_at_midnight_in_utc(world: World) -> None:
    await world.ingest(
        match(1, kickoff=datetime(2026, 10, 3, tzinfo=UTC)),
        match(2, kickoff=datetime(2026, 10, 4, tzinfo=UTC)),
    )
    assert [one.fixture_id for one in (await world.matches.load_fixtures(date(2026, 10, 3), limit=10)).items] == [1]


async def test_names_are_found_without_accents_and_by_alias(world: World) -> None:
    koeln, away = Team(192, "1. FC Köln"), Team(157, "Bayern München")
    scorer = (9, "Luka Modrić")
    await world.ingest(match(7, home=koeln, away=away))
    seen = match(7, home=koeln, away=away, events=(goal(12, scorer, koeln),), home_goals=1)
    await world.poll(seen)
    await world.teams.save_aliases(157, ["FCB", "Rekordmeister"], "wikidata", world.now)
    for query in ("koln", "KÖLN munchen", "rekord"):
        assert [one.fixture_id for one in (await world.matches.search_fixtures(search_words(query))).items] == [7], (
            query
        )
    for query in ("modric", "Luka Modrić"):
        assert [hit.goal.event_id for hit in (await world.matches.search_goals(search_words(query))).items] == [
            "7_192_9_Goal_1"
        ], query
    for query in ("%%", "köln arsenal", "modric_"):
        assert (await world.matches.search_fixtures(search_words(query))).items == (), query
    with pytest.raises(InvalidInputError):
        search_words(" x ")
    assert [team.team_id for team in (await world.follows.search_teams(["munchen"])).items] == [157]


async def test_goals_are_listed_in_pages_newest_first(world: World) -> None:
    await world.ingest(match())
    await world.poll(with_goals(1, goal(3)))
    await world.poll(with_goals(1, goal(3), goal(40)))
    first = await world.reader.load_goals(DAY, limit=1)
    second = await world.reader.load_goals(DAY, after=first.after or 0, limit=1)
    assert [hit.goal.elapsed for hit in (*first.items, *second.items)] == [40, 3]
    assert second.after is None


async def test_the_trail_says_what_became_of_everything_that_was_found(world: World) -> None:
    event_id = await world.confirmed_goal()
    a, b, c, d = await world.found(event_id, 1, "a", "b", "c", "d")
    answers = [SourceAnswer("folder", 4), SourceAnswer("bluesky", 0, "login expired.")]
    await world.candidates.record_search(event_id, 1, "(Salah) (Liverpool)", answers, world.now)
    wrong = [
        SettledCandidate(candidate_id=number, outcome=CandidateOutcome.WRONG_MINUTE, reason="70:10")
        for number in (a, b)
    ]
    filmed = SettledCandidate(candidate_id=c, outcome=CandidateOutcome.FILMED_SCREEN)
    await world.candidates.settle([*wrong, filmed], world.now)
    await world.clips.add(event_id, uploaded(video(d)), b"print", world.now)
    audit = await world.reader.load_audit(event_id, limit=3)
    assert audit.summary == (
        "4 found: 2 wrong minute, 1 filmed from a screen, 1 stored. Failed: bluesky 1 time (login expired)."
    )
    assert [note.what for note in audit.notes] == ["first seen", "confirmed", "search began"]
    assert len(audit.sightings) == 3
    assert [item.candidate_id for item in audit.candidates.items] == [a, b, c]
    rest = await world.reader.load_candidates(event_id, after=audit.candidates.after or 0)
    assert [item.share_id for item in rest.items] == [audit.goal.clips[0].share_id]


async def test_a_goal_without_a_clip_says_why(world: World) -> None:
    await world.ingest(match())
    await world.poll(with_goals(1, goal(23, None)))
    assert (await world.reader.load_audit("1_40_0_Goal_1")).summary == "Not searched yet: the scorer is not known."
    await world.poll(with_goals(1, goal(23)))
    audit = await world.reader.load_audit("1_40_0_Goal_1")
    assert audit.summary == "Not confirmed yet: seen in 2 of 3 polls."
    await world.poll(with_goals(1, goal(23)))
    audit = await world.reader.load_audit("1_40_0_Goal_1")
    assert audit.summary == "Confirmed, and the search is about to begin."
    for attempt in (1, 2):
        await world.candidates.record_search("1_40_0_Goal_1", attempt, "q", [SourceAnswer("folder", 0)], world.now)
    await world.goals.end_search("1_40_0_Goal_1", SearchEnd.EXHAUSTED, world.now)
    await world.goals.complete_if_ready("1_40_0_Goal_1", world.policy, world.now)
    audit = await world.reader.load_audit("1_40_0_Goal_1")
    assert audit.summary == "Nothing found in 2 searches. Complete: attempts exhausted, every download finished."
    await world.poll(match(), times=3)
    assert (await world.reader.load_audit("1_40_0_Goal_1")).summary.startswith("Disallowed: ")


async def test_aliases_are_fresh_for_a_time_and_unknown_teams_are_said_to_be(world: World) -> None:
    await world.ingest(match())
    age = timedelta(days=30)
    assert (await world.teams.load_aliases(40, age, world.now)).fresh is False
    await world.teams.save_aliases(40, ["LFC", "The Reds"], "wikidata", world.now)
    cached = await world.teams.load_aliases(40, age, world.now + age)
    assert (cached.fresh, cached.aliases, cached.source) == (True, ("LFC", "The Reds"), "wikidata")
    assert (await world.teams.load_aliases(40, age, world.now + age + timedelta(seconds=1))).fresh is False
    assert (await world.teams.load_team(40)).country == "England"
    with pytest.raises(NotFoundError):
        await world.teams.load_team(7)


async def test_a_failing_source_is_shown_as_failing_with_the_time_it_last_worked(world: World) -> None:
    later = world.now + timedelta(hours=1)
    await world.health.record([SourceAnswer("x-browser", 3)], world.now)
    await world.health.record([SourceAnswer("x-browser", 0, "login expired")], later)
    # An answer that comes in late does not hide the newer one.
    await world.health.record([SourceAnswer("x-browser", 1)], world.now)
    [source] = await world.health.load_all()
    assert (source.working, source.failure, source.worked_at, source.checked_at) == (
        False,
        "login expired",
        world.now,
        later,
    )


async def test_polls_are_kept_with_what_they_did(world: World) -> None:
    await world.polls.register_run("run", world.policy, world.now)
    await world.polls.finish_run("run", {"fixtures": 3, "failed": 1}, world.now)
    [poll] = await world.polls.load_recent(5)
    assert (poll.run_id, poll.fixtures, poll.failed, poll.finished_at) == ("run", 3, 1, world.now)


def test_without_a_key_it_is_said_what_to_set() -> None:
    assert [item.name for item in check_readiness(FootySettings()).missing] == ["PRESSBOX_FOOTY_API_KEY"]
    seeing = FootySettings(api_key="k", judge=JudgeKind.VISION_LLM)
    assert [item.name for item in check_readiness(seeing).missing] == ["PRESSBOX_FOOTY_VISION_URL"]
    assert check_readiness(FootySettings(api_key="k", folder="clips")).advised == ()


async def test_the_trail_of_a_goal_says_once_that_our_clock_was_wrong(world: World) -> None:
    event_id = await world.confirmed_goal()
    for _ in range(2):
        await world.goals.note_wrong_clock(event_id, timedelta(seconds=240), world.now)
    audit = await world.reader.load_audit(event_id)
    assert [(note.what, note.after) for note in audit.notes if note.what == "wrong clock"] == [
        ("wrong clock", "+240 s")
    ]
