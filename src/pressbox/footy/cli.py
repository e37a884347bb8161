"""`pressbox footy`: fixtures, goals and their trail from the terminal of whoever runs this machine."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import Annotated, TypeVar

import typer

from pressbox.core.app import OpenResources, Resources
from pressbox.core.errors import ConfigurationError, InvalidInputError
from pressbox.footy.domain.views import AuditView, FixtureView, GoalHit, Page
from pressbox.footy.service.footy import Footy

Result = TypeVar("Result")
Item = TypeVar("Item")
MakeService = Callable[[Resources], Footy]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Day = Annotated[str | None, typer.Option("--date", help="As 2027-05-01, in UTC.")]
_PAGE = 200


class MatchCommands:
    """The commands on the service that `make` gives for the connected parts."""

    def __init__(self, make: MakeService) -> None:
        self._make = make

    def ingest(
        self,
        context: typer.Context,
        fixture: Annotated[list[int] | None, typer.Option(help="Only this fixture; may be repeated.")] = None,
    ) -> None:
        """Fetch the fixtures of the next days now, or some by their ids."""

        async def act(service: Footy) -> str:
            _demand_ready(service)
            return await service.status.ingest(fixture or ())

        typer.echo(f"Started {self._run(context, act)}.")

    def monitor(
        self,
        context: typer.Context,
        once: Annotated[bool, typer.Option("--once", help="One poll; the schedule goes on beside it.")] = False,
    ) -> None:
        """Poll the live fixtures now."""
        if not once:
            raise InvalidInputError("The worker polls by its schedule. Add --once for one poll now.", field="once")

        async def act(service: Footy) -> str:
            _demand_ready(service)
            return await service.status.monitor()

        typer.echo(f"Started {self._run(context, act)}.")

    def fixtures(self, context: typer.Context, day: Day = None, as_json: Json = False) -> None:
        """Show the fixtures of a day, by default of today."""
        on = _day(day) or datetime.now(UTC).date()

        async def act(service: Footy) -> list[FixtureView]:
            return await _everything(lambda after: service.matches.fixtures(on, after=after, limit=_PAGE))

        found = self._run(context, act)
        if as_json:
            _print_json([asdict(fixture) for fixture in found])
            return
        for fixture in found:
            typer.echo(_fixture_line(fixture))

    def goals(self, context: typer.Context, day: Day = None, as_json: Json = False) -> None:
        """Show goals, the newest first, also those that were disallowed."""
        on = _day(day)

        async def act(service: Footy) -> list[GoalHit]:
            return await _everything(lambda after: service.goals.all(on, after=after or 0, limit=_PAGE))

        found = self._run(context, act)
        if as_json:
            _print_json([asdict(hit) for hit in found])
            return
        for hit in found:
            typer.echo(_goal_line(hit))

    def why(
        self,
        context: typer.Context,
        event_id: Annotated[str, typer.Argument(help="As `goals` shows it.")],
        as_json: Json = False,
    ) -> None:
        """Say what became of a goal: who saw it, what was searched, and why it has these clips or none."""
        found = self._run(context, lambda service: service.goals.audit(event_id, limit=_PAGE))
        if as_json:
            _print_json(asdict(found))
            return
        for line in _audit_lines(found):
            typer.echo(line)

    def aliases(
        self,
        context: typer.Context,
        team_id: Annotated[int, typer.Argument(help="The id of the team at API-Football.")],
        refresh: Annotated[bool, typer.Option("--refresh", help="Look for them anew.")] = False,
        as_json: Json = False,
    ) -> None:
        """Show what else a team is called."""
        if refresh:
            started = self._run(context, lambda service: service.teams.refresh_aliases(team_id))
            typer.echo(f"Started {started}.", err=as_json)
            return
        team = self._run(context, lambda service: service.teams.team(team_id))
        if as_json:
            _print_json(asdict(team))
            return
        known = (
            f"from {team.alias_source}, {team.fetched_at:%Y-%m-%d %H:%M} UTC" if team.fetched_at else "not looked up"
        )
        typer.echo(f"{team.team_id} {team.name} ({known})")
        for alias in team.aliases:
            typer.echo(f"  {alias}")

    def _run(self, context: typer.Context, act: Callable[[Footy], Awaitable[Result]]) -> Result:
        open_resources: OpenResources = context.obj

        async def run() -> Result:
            async with open_resources() as resources:
                return await act(self._make(resources))

        return asyncio.run(run())


def build_commands(make: MakeService) -> typer.Typer:
    commands = typer.Typer(help="Fixtures, goals and their clips.", no_args_is_help=True)
    of_matches = MatchCommands(make)
    for command in (
        of_matches.ingest,
        of_matches.monitor,
        of_matches.fixtures,
        of_matches.goals,
        of_matches.why,
        of_matches.aliases,
    ):
        commands.command()(command)
    return commands


def _demand_ready(service: Footy) -> None:
    missing = service.status.ready().missing
    if missing:
        raise ConfigurationError(" ".join(f"{item.name} is not set. {item.advice}" for item in missing))


async def _everything(page: Callable[[int | None], Awaitable[Page[Item]]]) -> list[Item]:
    found: list[Item] = []
    after: int | None = None
    while True:
        got = await page(after)
        found.extend(got.items)
        after = got.after
        if after is None:
            return found


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise InvalidInputError("--date has the form 2027-05-01.", field="date") from error


def _fixture_line(fixture: FixtureView) -> str:
    home, away = fixture.home, fixture.away
    score = "-" if home.goals is None else f"{home.goals}:{away.goals}"
    minute = f" {fixture.elapsed}'" if fixture.live and fixture.elapsed is not None else ""
    trouble = f"  ! {fixture.trouble}" if fixture.trouble else ""
    when = f"{fixture.kickoff.astimezone(UTC):%H:%M}"
    return f"{fixture.fixture_id:<10} {when} {fixture.status + minute:<9} {home.name} {score} {away.name}{trouble}"


def _goal_line(hit: GoalHit) -> str:
    goal = hit.goal
    who = goal.player_name or "unknown scorer"
    match = f"{hit.home_name} {goal.home_score}:{goal.away_score} {hit.away_name}"
    return f"{goal.event_id:<32} {goal.minute + chr(39):<7} {who:<24} {match:<40} {goal.state}, {len(goal.clips)} clips"


def _audit_lines(audit: AuditView) -> list[str]:
    goal = audit.goal
    lines = [
        f"{goal.player_name or 'unknown scorer'} ({goal.team_name}), {goal.minute}', {goal.detail}: {goal.state}",
        audit.summary,
        f"Seen first {goal.first_seen:%Y-%m-%d %H:%M:%S} UTC; registers: {len(audit.sightings)} sightings, "
        f"{len(audit.misses)} misses, {len(audit.downloads)} downloads",
    ]
    lines += [f"  {note.at:%H:%M:%S} {note.what} {note.before} → {note.after}".rstrip(" →") for note in audit.notes]
    for search in audit.searches:
        answer = f"failed: {search.failure}" if search.failure else f"{search.found} found"
        lines.append(f"  attempt {search.attempt} {search.source}: {answer}  {search.query}")
    for run in audit.downloads:
        lines.append(f"  {run.workflow_id}: {run.outcome or 'at work'}")
    for item in audit.candidates.items:
        reason = f" ({item.reason})" if item.reason else ""
        lines.append(f"  {item.source} {item.video_page_url}: {item.outcome}{reason}")
    if audit.candidates.after is not None:
        lines.append(f"  and more than these {len(audit.candidates.items)}; the page of the goal shows all")
    return lines


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, default=_plain))


def _plain(value: object) -> str:
    assert isinstance(value, date)
    return value.isoformat()
