"""The columns of a fixture that a poll may write, and who hears of a change."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, Text, any_, literal
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.sql.expression import CollectionAggregate

from pressbox.core.db.database import UnitOfWork
from pressbox.footy.adapters.rows import FixtureRow
from pressbox.footy.domain.fixtures import ObservedFixture

FIXTURE_CHANGED = "footy.fixture"
GOAL_CHANGED = "footy.goal"
DAY_CHANGED = "footy.day"


def facts(fixture: ObservedFixture) -> dict[str, Any]:
    """By named column: what we found out ourselves is never among them."""
    home_penalties, away_penalties = fixture.penalties or (None, None)
    return {
        "status": fixture.status.value,
        "kickoff": fixture.kickoff,
        "elapsed": fixture.elapsed,
        "extra": fixture.extra,
        "home_goals": fixture.home_goals,
        "away_goals": fixture.away_goals,
        "home_penalties": home_penalties,
        "away_penalties": away_penalties,
        "winner_id": fixture.winner_id,
    }


def names(fixture: ObservedFixture) -> dict[str, Any]:
    """Who plays where: not decided for long in cups, so a waiting fixture follows the answers."""
    return {
        "league_id": fixture.league.id,
        "league_name": fixture.league.name,
        "country": fixture.league.country,
        "round": fixture.league.round,
        "venue": fixture.venue,
        "home_id": fixture.home.id,
        "home_name": fixture.home.name,
        "away_id": fixture.away.id,
        "away_name": fixture.away.name,
    }


def differs(row: FixtureRow, values: dict[str, Any]) -> bool:
    return any(getattr(row, name) != value for name, value in values.items())


def tell_fixture(work: UnitOfWork, fixture_id: int, *kickoffs: datetime) -> None:
    """A fixture looks different, and so does its day; with a new date both days do."""
    work.changed(FIXTURE_CHANGED, str(fixture_id))
    for kickoff in kickoffs:
        work.changed(DAY_CHANGED, kickoff.astimezone(UTC).date().isoformat())


def one_of(numbers: Collection[int]) -> CollectionAggregate[bool]:
    """For `column == one_of(ids)`: one parameter, however many there are."""
    return any_(literal(list(numbers), ARRAY(BigInteger)))


def one_of_names(names: Collection[str]) -> CollectionAggregate[bool]:
    """For `column == one_of_names(ids)`: one parameter, however many there are."""
    return any_(literal(list(names), ARRAY(Text)))
