"""Matches, goals and teams by the beginnings of their names, and the matches of somebody's teams. From indexes alone.

Lines of a list need neither goals nor clips, so a statement gives all of them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache

from sqlalchemy import ColumnElement, DateTime, Select, bindparam, func, or_, select, union
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of
from pressbox.core.db.parameters import MOST, NOW, PERSON, numbers
from pressbox.core.db.words import TYPED, has_words, words_of, words_query
from pressbox.core.notices.rows import FollowRow as PersonalFollowRow
from pressbox.footy.adapters.follows import followed_of, keys_of
from pressbox.footy.adapters.rows import DirectoryRow, FixtureRow, GoalRow, TeamRow
from pressbox.footy.domain.directory import Entry
from pressbox.footy.domain.fixtures import Followed, Stage
from pressbox.footy.domain.views import FollowKind
from pressbox.footy.ids import LEAGUE_SUBJECT, TEAM_SUBJECT

# A result stays on the first page for the evening and the morning after.
RECENT = timedelta(hours=18)
# The nearest so many are sorted for the page.
NEAREST = 60
TEAMS_OF_A_WORD = 200


async def find_matches(session: AsyncSession, typed: str, now: datetime, limit: int) -> Sequence[FixtureRow]:
    """Fixtures of teams with these words in their names or aliases, the nearest in time first."""
    query = words_query(typed)
    # By an alias the whole of what was typed has to name one team.
    known = list(await session.scalars(_select_named(), {"typed": query}))
    values = {"typed": query, "known": known, "now": now, "most": limit}
    return list(await session.scalars(_select_matches(), values))


@cache
def _select_named() -> Select[tuple[int]]:
    return select(TeamRow.team_id).where(_team_has()).limit(TEAMS_OF_A_WORD)


@cache
def _select_matches() -> Select[tuple[FixtureRow]]:
    order = (func.abs(func.extract("epoch", FixtureRow.kickoff - NOW)), FixtureRow.id)
    known = numbers("known")
    ways = (
        has_words(words_of(FixtureRow.home_name, FixtureRow.away_name), TYPED),
        FixtureRow.home_id == one_of(known),
        FixtureRow.away_id == one_of(known),
    )
    # Each way gives its nearest, so that what is joined stays small however common the word is.
    nearest = [select(FixtureRow.id).where(way).order_by(*order).limit(MOST).subquery() for way in ways]
    ids = union(*(select(one.c.id) for one in nearest)).subquery()
    return select(FixtureRow).where(FixtureRow.id.in_(select(ids.c.id))).order_by(*order).limit(MOST)


async def find_goals(session: AsyncSession, typed: str, limit: int) -> Sequence[tuple[GoalRow, FixtureRow]]:
    """Goals of players with these words in their names, newest first."""
    values = {"typed": words_query(typed), "most": limit}
    return (await session.execute(_select_goals(), values)).tuples().all()


@cache
def _select_goals() -> Select[tuple[GoalRow, FixtureRow]]:
    return (
        select(GoalRow, FixtureRow)
        .join(FixtureRow, FixtureRow.id == GoalRow.fixture_id)
        .where(has_words(words_of(GoalRow.player_name), TYPED), GoalRow.removed_at.is_(None))
        .order_by(GoalRow.first_seen.desc(), GoalRow.event_id)
        .limit(MOST)
    )


async def find_entries(session: AsyncSession, typed: str, limit: int) -> Sequence[Entry]:
    """Leagues and teams of the directory with these words in their names, aliases or country."""
    rows = (await session.execute(_select_entries(), {"typed": words_query(typed), "most": limit})).tuples()
    return [Entry(FollowKind(kind), number, name, country) for kind, number, name, country in rows]


@cache
def _select_entries() -> Select[tuple[str, int, str, str]]:
    aliased = select(TeamRow.team_id).where(_team_has()).limit(MOST)
    columns = (DirectoryRow.kind, DirectoryRow.id, DirectoryRow.name, DirectoryRow.country)
    named = select(*columns).where(has_words(words_of(DirectoryRow.words, DirectoryRow.country), TYPED))
    by_alias = select(*columns).where(DirectoryRow.kind == FollowKind.TEAM, DirectoryRow.id.in_(aliased))
    both = union(named, by_alias).subquery()
    return select(both.c.kind, both.c.id, both.c.name, both.c.country).order_by(func.length(both.c.name)).limit(MOST)


async def load_own(session: AsyncSession, user_id: int) -> tuple[Followed, datetime | None]:
    """The leagues and teams that this person follows, and since when the last of them."""
    rows = (await session.execute(_select_own(), {"person": user_id})).tuples().all()
    return followed_of(keys_of(subject for subject, _ in rows)), max((since for _, since in rows), default=None)


@cache
def _select_own() -> Select[tuple[str, datetime]]:
    follow = PersonalFollowRow
    begins = [follow.subject.startswith(one, autoescape=True) for one in (LEAGUE_SUBJECT, TEAM_SUBJECT)]
    return select(follow.subject, follow.created_at).where(follow.user_id == PERSON, or_(*begins))


async def load_near(session: AsyncSession, followed: Followed | None, now: datetime) -> Sequence[FixtureRow]:
    """What was played a while ago, is played now or comes next, of what is followed; None: of everything, today."""
    values: dict[str, object] = {"since": now - RECENT}
    if followed is None:
        values["until"] = now + timedelta(days=1)
    else:
        values |= {"teams": sorted(followed.teams), "leagues": sorted(followed.leagues)}
    return list(await session.scalars(_select_near(of_all=followed is None), values))


@cache
def _select_near(*, of_all: bool) -> Select[tuple[FixtureRow]]:
    since, until = (bindparam(name, type_=DateTime(timezone=True)) for name in ("since", "until"))
    teams = numbers("teams")
    concerns = or_(
        FixtureRow.home_id == one_of(teams),
        FixtureRow.away_id == one_of(teams),
        FixtureRow.league_id == one_of(numbers("leagues")),
    )
    wanted = FixtureRow.kickoff < until if of_all else concerns
    near = select(FixtureRow).where(FixtureRow.kickoff > since, wanted)
    return near.order_by(FixtureRow.kickoff, FixtureRow.id).limit(NEAREST)


def sort_near(rows: Sequence[FixtureRow], now: datetime) -> Sequence[FixtureRow]:
    """Live first, then what begins within a day, then results, newest first, then the rest."""

    def place(row: FixtureRow) -> tuple[int, float]:
        at = row.kickoff.timestamp()
        if row.stage == Stage.ACTIVE:
            return 0, at
        if row.stage == Stage.COMPLETED:
            return 2, -at
        return (1 if row.kickoff < now + timedelta(days=1) else 3), at

    return sorted(rows, key=place)


def _team_has() -> ColumnElement[bool]:
    return has_words(words_of(TeamRow.name, func.core.join_texts(TeamRow.aliases)), TYPED)
