"""Teams, matches and goals as the search of the top line and the first page show them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from sqlalchemy import Select, Text, bindparam, func, select

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.clock import utc_now
from pressbox.core.db.database import UnitOfWork
from pressbox.core.db.words import split_words
from pressbox.core.spoilers.choice import Sight
from pressbox.core.spoilers.store import load_sight
from pressbox.core.today.contracts import (
    Attention,
    FoundThing,
    LineKind,
    PageReader,
    SearchGroup,
    SectionView,
    TodaySection,
)
from pressbox.footy.adapters.directory import with_listed
from pressbox.footy.adapters.found_matches import (
    find_entries,
    find_goals,
    find_matches,
    load_near,
    load_own,
    sort_near,
)
from pressbox.footy.adapters.request_budgets import budget_name
from pressbox.footy.adapters.rows import FixtureRow, GoalRow, RequestBudgetRow, SourceHealthRow
from pressbox.footy.domain.directory import Entry, plain_words, rank_entries
from pressbox.footy.domain.fixtures import FixtureStatus, Stage
from pressbox.footy.domain.names import SHORTEST_SEARCH
from pressbox.footy.domain.request_budget import RequestBudget
from pressbox.footy.domain.subjects import fixture_subject
from pressbox.footy.domain.views import FollowKind
from pressbox.footy.ids import DAY_TOPIC, PATH, team_path
from pressbox.footy.settings import FootySettings

# What the directory is asked for; the best of them are shown.
CANDIDATES = 100
# Some of the goals found may be hidden from the person, so more are read.
COVERED = 5
# What was followed a moment ago is being fetched.
FETCHING = timedelta(minutes=2)
# Of the requests of a day, when it is worth a word that they run out.
SHARE_LEFT = 0.1
_WORDS = {
    FixtureStatus.HALF_TIME: "HT",
    FixtureStatus.BREAK_TIME: "break",
    FixtureStatus.PENALTIES: "pens",
    FixtureStatus.FULL_TIME: "FT",
    FixtureStatus.AFTER_EXTRA_TIME: "AET",
    FixtureStatus.AFTER_PENALTIES: "pens",
}


async def find_teams(resources: Resources, _: Viewer, typed: str, limit: int) -> Sequence[FoundThing]:
    """Teams and leagues, also such as nobody follows: the lists that come with the program know them."""
    if len("".join(split_words(typed))) < SHORTEST_SEARCH:
        return ()
    async with resources.database.unit_of_work() as work:
        known = await find_entries(work.session, typed, CANDIDATES)
    words = plain_words(typed)
    best = rank_entries(with_listed(known, words), words, frozenset(), limit)
    return [_entry_line(entry) for entry in best]


async def find_played(resources: Resources, viewer: Viewer, typed: str, limit: int) -> Sequence[FoundThing]:
    """Matches of teams with these words in their names; everybody may see all of them."""
    if len("".join(split_words(typed))) < SHORTEST_SEARCH:
        return ()
    async with resources.database.unit_of_work() as work:
        rows = await find_matches(work.session, typed, utc_now(), limit)
        sight = await load_sight(work.session, viewer.user_id)
    return [_line(row, sight) for row in rows]


async def find_scored(resources: Resources, viewer: Viewer, typed: str, limit: int) -> Sequence[FoundThing]:
    """Goals by the name of the scorer, as far as the person may know of them."""
    if len("".join(split_words(typed))) < SHORTEST_SEARCH:
        return ()
    async with resources.database.unit_of_work() as work:
        sight = await load_sight(work.session, viewer.user_id)
        found = await find_goals(work.session, typed, limit if sight.unlimited else limit * COVERED)
    known = [
        (goal, fixture) for goal, fixture in found if goal.first_seen <= sight.known_until(fixture_subject(fixture.id))
    ]
    return [_goal_line(goal, fixture) for goal, fixture in known[:limit]]


async def load_matches(work: UnitOfWork, resources: Resources, reader: PageReader, limit: int) -> SectionView:
    """Matches of what somebody follows; for whoever follows nothing, those of today."""
    own, since = await load_own(work.session, reader.user_id)
    now, begun = utc_now(), bool(own.leagues or own.teams)
    rows = await load_near(work.session, own if begun else None, now)
    shown = sort_near([row for row in rows if _is_shown(row, now)], now)
    lines = [_line(row, reader.sight) for row in shown[:limit]]
    waiting = "" if lines or since is None else _say_waiting(resources, now - since)
    return SectionView(lines, begun, waiting)


def _say_waiting(resources: Resources, followed_for: timedelta) -> str:
    """What to expect of somebody's team of which no match is known."""
    if resources.settings.group(FootySettings).api_key is None:
        return "Matches appear as soon as the key of API-Football is set."
    return "The matches of the coming days appear in a few seconds." if followed_for < FETCHING else ""


def _is_shown(row: FixtureRow, now: datetime) -> bool:
    """Not one that has been waiting for another date since its kick-off passed."""
    return row.stage != Stage.STAGING or row.kickoff > now


def _line(row: FixtureRow, sight: Sight) -> FoundThing:
    covered = row.stage != Stage.STAGING and row.changed_at > sight.known_until(fixture_subject(row.id))
    scored = not covered and row.home_goals is not None and row.away_goals is not None
    score = f" {row.home_goals}–{row.away_goals}{_shootout(row)} " if scored else " – "
    status = FixtureStatus(row.status)
    return FoundThing(
        title=f"{row.home_name}{score}{row.away_name}",
        path=f"{PATH}/matches/{row.id}",
        detail=row.league_name,
        at=row.kickoff,
        lead="" if covered else _WORDS.get(status) or _minute(row, status),
        live=row.stage == Stage.ACTIVE and status.live,
    )


def _shootout(row: FixtureRow) -> str:
    """The kicks beside the score, which does not count them."""
    if row.home_penalties is None or row.away_penalties is None:
        return ""
    return f" ({row.home_penalties}–{row.away_penalties})"


def _minute(row: FixtureRow, status: FixtureStatus) -> str:
    if not status.live or row.elapsed is None:
        return ""
    return f"{row.elapsed}+{row.extra}′" if row.extra else f"{row.elapsed}′"


def _goal_line(goal: GoalRow, fixture: FixtureRow) -> FoundThing:
    return FoundThing(
        title=goal.player_name,
        path=f"{PATH}/goals/{quote(goal.event_id)}",
        detail=f"{fixture.home_name} {goal.home_score}–{goal.away_score} {fixture.away_name}",
        at=fixture.kickoff,
        lead=f"{goal.elapsed}′",
    )


def _entry_line(entry: Entry) -> FoundThing:
    """A team leads to its page; a league has none, so it leads to where it can be followed."""
    path = team_path(entry.id) if _has_page(entry) else f"{PATH}/follow?{urlencode({'q': entry.name})}"
    return FoundThing(entry.name, path, entry.country)


def _has_page(entry: Entry) -> bool:
    """Of what only the lists of the program know, API-Football's id is not known yet."""
    return entry.kind is FollowKind.TEAM and not entry.is_listed_only


async def look_for_trouble(work: UnitOfWork, resources: Resources, viewer: Viewer) -> Sequence[Attention]:
    """Clip sources that fail, and requests that run out: whoever runs the instance can do something about it."""
    if not viewer.is_administrator:
        return ()
    name = budget_name(resources.settings.group(FootySettings))
    sources, state = (await work.session.execute(_select_trouble(), {"budget": name})).one()
    return [*_say_failing(sorted(sources or ())), *_say_requests(RequestBudget.model_validate(state or {}), utc_now())]


@cache
def _select_trouble() -> Select[Any]:
    own = RequestBudgetRow.name == bindparam("budget", type_=Text)
    failing = select(func.array_agg(SourceHealthRow.source)).where(SourceHealthRow.failure != "")
    return select(failing.scalar_subquery(), select(RequestBudgetRow.state).where(own).scalar_subquery())


def _say_failing(sources: Sequence[str]) -> Sequence[Attention]:
    if not sources:
        return ()
    if len(sources) == 1:
        return (Attention(f"The clip source {sources[0]} does not answer.", "/status"),)
    return (Attention(f"{len(sources)} clip sources do not answer.", "/status"),)


def _say_requests(budget: RequestBudget, now: datetime) -> Sequence[Attention]:
    left, most = budget.left_on(now), budget.day_limit
    if left is None or not most or left > most * SHARE_LEFT:
        return ()
    return (Attention(f"Only {left} of {most} requests to API-Football are left today.", "/status"),)


SECTIONS = (
    TodaySection(
        "matches",
        "Matches",
        PATH,
        load_matches,
        kind=LineKind.TIMETABLE,
        limit=6,
        first_step="footy/_begin.html",
        nothing="No match of what you follow in the coming days.",
        topics=(DAY_TOPIC,),
    ),
)
GROUPS = (
    SearchGroup("teams", "Teams and leagues", find_teams),
    SearchGroup("matches", "Matches", find_played),
    SearchGroup("goals", "Goals", find_scored),
)
