"""The columns of a fixture that an answer of the API fills."""

from typing import Any

from pressbox.footy.adapters.rows import FixtureRow
from pressbox.footy.domain.fixtures import ObservedFixture


def fact_columns(fixture: ObservedFixture) -> dict[str, Any]:
    """What every answer may change; never what we found out ourselves."""
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


def name_columns(fixture: ObservedFixture) -> dict[str, Any]:
    """Who plays where: in cups it is decided late, so a staging fixture follows the answers."""
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
