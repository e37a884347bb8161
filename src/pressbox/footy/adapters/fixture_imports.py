"""Imports of fixtures in PostgreSQL: what an ingest fetched, and into which stage it goes."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.footy.adapters.changes import publish_fixture
from pressbox.footy.adapters.directory import save_entries
from pressbox.footy.adapters.fixture_columns import fact_columns, name_columns
from pressbox.footy.adapters.goal_writer import write_comparisons
from pressbox.footy.adapters.rows import FetchedFixtureRow, FixtureRow, TeamRow
from pressbox.footy.contracts.ingest import StoredFixtures
from pressbox.footy.domain.directory import Entry
from pressbox.footy.domain.fixtures import FixtureStatus, ObservedFixture, Stage
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.views import FollowKind

_OBSERVED: TypeAdapter[ObservedFixture] = TypeAdapter(ObservedFixture)
_KNOWN = "known"
_FETCHED_KEPT = timedelta(days=2)
_TEAMS_PER_PAGE = 200


class SqlFixtureImports:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def save_fetched(self, run_id: str, fixtures: Sequence[ObservedFixture]) -> None:
        if not fixtures:
            return
        # The same fixture twice in one statement would make it fail; the later one counts.
        distinct = {fixture.fixture_id: fixture for fixture in fixtures}
        rows = [
            {"run_id": run_id, "fixture_id": number, "observed": _OBSERVED.dump_python(fixture, mode="json")}
            for number, fixture in distinct.items()
        ]
        statement = insert(FetchedFixtureRow)
        statement = statement.on_conflict_do_update(
            index_elements=["run_id", "fixture_id"], set_={"observed": statement.excluded.observed}
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement, rows)

    async def route_fetched(self, run_id: str, policy: FootyPolicy, now: datetime) -> StoredFixtures:
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                delete(FetchedFixtureRow).where(FetchedFixtureRow.created_at < now - _FETCHED_KEPT)
            )
            await self._route(work, run_id, policy, now)
            counts = await _count_routed(work.session, run_id)
            teams = await _find_teams_without_aliases(work.session, now - policy.alias_age)
        return StoredFixtures(
            staging=counts[Stage.STAGING],
            active=counts[Stage.ACTIVE],
            completed=counts[Stage.COMPLETED],
            known=counts[_KNOWN],
            teams=teams,
        )

    async def _route(self, work: UnitOfWork, run_id: str, policy: FootyPolicy, now: datetime) -> None:
        fetched = select(FetchedFixtureRow.observed).where(
            FetchedFixtureRow.run_id == run_id, FetchedFixtureRow.routed.is_(None)
        )
        observed = [_OBSERVED.validate_python(raw) for raw in await work.session.scalars(fetched.with_for_update())]
        if not observed:
            return
        await _save_teams(work.session, observed)
        statement = insert(FixtureRow).on_conflict_do_nothing().returning(FixtureRow.id)
        new = set(await work.session.scalars(statement, [_new_row(fixture, now) for fixture in observed]))
        await _record_goals(work.session, run_id, [one for one in observed if one.fixture_id in new], policy, now)
        postponed = await _find_reopened(work.session, observed) - new
        routed = {fixture.fixture_id: _stage_of(fixture).value for fixture in observed if fixture.fixture_id in new}
        for fixture in observed:
            if fixture.fixture_id in postponed:
                await _return_to_staging(work.session, fixture, now)
            if fixture.fixture_id in new | postponed:
                publish_fixture(work, fixture.fixture_id, fixture.kickoff)
        for fixture in observed:
            destination = Stage.STAGING.value if fixture.fixture_id in postponed else _KNOWN
            routed.setdefault(fixture.fixture_id, destination)
        for destination in set(routed.values()):
            numbers = [number for number, where in routed.items() if where == destination]
            await work.session.execute(
                update(FetchedFixtureRow)
                .where(FetchedFixtureRow.run_id == run_id, FetchedFixtureRow.fixture_id == one_of(numbers))
                .values(routed=destination)
            )


def _new_row(fixture: ObservedFixture, now: datetime) -> dict[str, Any]:
    stage = _stage_of(fixture)
    return {
        "id": fixture.fixture_id,
        "stage": stage,
        "activated_at": now if stage is Stage.ACTIVE else None,
        "completed_at": now if stage is Stage.COMPLETED else None,
        "changed_at": now,
        "looked_at": now if fixture.events is not None else None,
        "last_activity": now,
        **fact_columns(fixture),
        **name_columns(fixture),
    }


def _stage_of(fixture: ObservedFixture) -> Stage:
    """By its status; one that is over with goals is polled until they are recorded, and archived then."""
    over = fixture.status.terminal and fixture.status.scored_on_the_pitch
    if over and (fixture.home_goals or 0) + (fixture.away_goals or 0):
        return Stage.ACTIVE
    return fixture.status.stage


async def _record_goals(
    session: AsyncSession, run_id: str, new: Sequence[ObservedFixture], policy: FootyPolicy, now: datetime
) -> None:
    """Record the goals of matches that somebody named: the lists by date have none. This counts as their first poll."""
    comparisons = {
        fixture.fixture_id: compare((), {}, fixture, run_id, now, policy)
        for fixture in new
        if fixture.events and _stage_of(fixture) is Stage.ACTIVE
    }
    await write_comparisons(session, run_id, comparisons, policy, now, asked_for=True)


async def _find_reopened(session: AsyncSession, observed: Sequence[ObservedFixture]) -> set[int]:
    """Known fixtures that wait again: postponed ones, and archived ones that are to be played after all."""
    ahead = [fixture.fixture_id for fixture in observed if not fixture.status.terminal]
    archived = select(FixtureRow.id).where(FixtureRow.id == one_of(ahead), FixtureRow.stage == Stage.COMPLETED)
    reopened = set(await session.scalars(archived))
    return reopened | {fixture.fixture_id for fixture in observed if fixture.status is FixtureStatus.POSTPONED}


async def _return_to_staging(session: AsyncSession, fixture: ObservedFixture, now: datetime) -> None:
    """A postponed fixture waits again, with the new date."""
    await session.execute(
        update(FixtureRow)
        .where(FixtureRow.id == fixture.fixture_id)
        .values(
            stage=Stage.STAGING,
            activated_at=None,
            completed_at=None,
            terminal_polls=0,
            changed_at=now,
            version=FixtureRow.version + 1,
            last_activity=func.greatest(FixtureRow.last_activity, now),
            **fact_columns(fixture),
        )
    )


async def _count_routed(session: AsyncSession, run_id: str) -> Counter[str]:
    statement = (
        select(FetchedFixtureRow.routed, func.count())
        .where(FetchedFixtureRow.run_id == run_id)
        .group_by(FetchedFixtureRow.routed)
    )
    return Counter({routed or "": count for routed, count in (await session.execute(statement)).tuples()})


async def _save_teams(session: AsyncSession, observed: Sequence[ObservedFixture]) -> None:
    teams: dict[int, dict[str, Any]] = {
        team.id: {
            "team_id": team.id,
            "name": team.name,
            "country": fixture.league.country_of_teams,
        }
        for fixture in observed
        for team in (fixture.home, fixture.away)
    }
    statement = insert(TeamRow)
    country = func.coalesce(func.nullif(statement.excluded.country, ""), TeamRow.country)
    statement = statement.on_conflict_do_update(
        index_elements=["team_id"], set_={"name": statement.excluded.name, "country": country}
    )
    # In a fixed order, so that two runs at once cannot deadlock.
    await session.execute(statement, [teams[number] for number in sorted(teams)])
    leagues = {fixture.league.id: fixture.league for fixture in observed}
    known = [Entry(FollowKind.TEAM, number, team["name"], team["country"]) for number, team in teams.items()]
    known += [Entry(FollowKind.LEAGUE, number, league.name, league.country) for number, league in leagues.items()]
    await save_entries(session, known)


async def _find_teams_without_aliases(session: AsyncSession, oldest: datetime) -> tuple[int, ...]:
    playing = (FixtureRow.home_id == TeamRow.team_id) | (FixtureRow.away_id == TeamRow.team_id)
    statement = (
        select(TeamRow.team_id)
        .join(FixtureRow, playing)
        .where(FixtureRow.stage != Stage.COMPLETED, or_(TeamRow.fetched_at.is_(None), TeamRow.fetched_at < oldest))
        .group_by(TeamRow.team_id)
        .order_by(func.min(FixtureRow.kickoff), TeamRow.team_id)
        .limit(_TEAMS_PER_PAGE)
    )
    return tuple(await session.scalars(statement))
