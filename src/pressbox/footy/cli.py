"""`pressbox footy`: fixtures, goals and their trail from the terminal of whoever runs this machine.

Stores and settings are imported when a command runs, so that help is shown at once.
"""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, date
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pressbox.core.clock import utc_now
from pressbox.core.commands import Json, print_json, run_with_resources
from pressbox.core.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.footy.adapters.workflows import TemporalWorkflows
    from pressbox.footy.domain.views import AuditView, FixtureView, FollowView, GoalHit, Page, TeamView

Result = TypeVar("Result")
Item = TypeVar("Item")
Day = Annotated[str | None, typer.Option("--date", help="As 2027-05-01, in UTC.")]
_PAGE = 200

commands = typer.Typer(help="Fixtures, goals and their clips.", no_args_is_help=True)


@commands.command()
def ingest(
    context: typer.Context,
    fixture: Annotated[list[int] | None, typer.Option(help="Only this fixture; can be repeated.")] = None,
) -> None:
    """Fetch the fixtures of the next days now, or some by their ids."""

    async def start(resources: "Resources") -> str:
        _require_ready(resources)
        return await _workflows(resources).start_ingest(fixture or ())

    typer.echo(f"Started {run_with_resources(context, start)}.")


@commands.command()
def monitor(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="One poll; the schedule goes on beside it.")] = False,
) -> None:
    """Poll the live fixtures now."""
    if not once:
        raise InvalidInputError("The worker polls by its schedule. Add --once for one poll now.", field="once")

    async def start(resources: "Resources") -> str:
        _require_ready(resources)
        return await _workflows(resources).start_monitor()

    typer.echo(f"Started {run_with_resources(context, start)}.")


@commands.command()
def fixtures(context: typer.Context, day: Day = None, as_json: Json = False) -> None:
    """Show the fixtures of a day, by default of today."""
    on = _parse_day(day) or utc_now().date()

    async def load(resources: "Resources") -> "list[FixtureView]":
        from pressbox.core.spoilers.choice import SEES_ALL
        from pressbox.footy.adapters.match_reader import MatchReader

        matches = MatchReader(resources.database, SEES_ALL)
        return await _load_all(lambda after: matches.load_fixtures(on, after=after, limit=_PAGE))

    found = run_with_resources(context, load)
    if as_json:
        print_json([asdict(fixture) for fixture in found])
        return
    for fixture in found:
        typer.echo(_fixture_line(fixture))
    if not found:
        typer.echo(
            f"No match of {on:%Y-%m-%d} is known. `pressbox footy test` says how the services answer, and"
            " `pressbox footy ingest` asks for the matches now.",
            err=True,
        )


@commands.command()
def goals(context: typer.Context, day: Day = None, as_json: Json = False) -> None:
    """Show goals, newest first, including disallowed ones."""
    on = _parse_day(day)

    async def load(resources: "Resources") -> "list[GoalHit]":
        from pressbox.core.spoilers.choice import SEES_ALL
        from pressbox.footy.adapters.goal_reader import GoalReader

        reader = GoalReader(resources.database, SEES_ALL)
        return await _load_all(lambda after: reader.load_goals(on, after=after or 0, limit=_PAGE))

    found = run_with_resources(context, load)
    if as_json:
        print_json([asdict(hit) for hit in found])
        return
    for hit in found:
        typer.echo(_goal_line(hit))
    if not found:
        typer.echo(f"No goal{f' of {on:%Y-%m-%d}' if on else ''} is known.", err=True)


@commands.command()
def why(
    context: typer.Context,
    event_id: Annotated[str, typer.Argument(help="As `goals` shows it.")],
    as_json: Json = False,
) -> None:
    """Explain what became of a goal: when it was seen, what was searched, and why it has these clips or none."""

    async def load(resources: "Resources") -> "AuditView":
        from pressbox.core.spoilers.choice import SEES_ALL
        from pressbox.footy.adapters.goal_reader import GoalReader

        return await GoalReader(resources.database, SEES_ALL).load_audit(event_id, limit=_PAGE)

    found = run_with_resources(context, load)
    if as_json:
        print_json(asdict(found))
        return
    for line in _audit_lines(found):
        typer.echo(line)


@commands.command()
def follow(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A name such as Arsenal, or team:42 and league:39 with an id.")],
) -> None:
    """Follow a team or a league, for everybody here, and fetch its matches at once. Lists the choices of a name."""

    async def choose(resources: "Resources") -> "tuple[str, bool]":
        from pressbox.footy.service.following import build_following

        teams = build_following(resources)
        chosen = await teams.choose(name)
        outcome = await teams.follow(chosen.kind, chosen.id)
        return _entry_words(outcome.entry.kind, outcome.entry.id, outcome.entry.name, chosen.country), outcome.fetching

    said, fetching = run_with_resources(context, choose)
    when = "Its matches of the coming days are being fetched." if fetching else "Its matches come with the next ingest."
    typer.echo(f"You follow {said} now. {when}")


@commands.command()
def unfollow(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="As `pressbox footy following` shows it, by name or as team:42.")],
) -> None:
    """No longer follow a team or a league. Its stored matches stay."""

    async def choose(resources: "Resources") -> str:
        from pressbox.footy.service.following import build_following

        gone = await build_following(resources).unfollow_by_name(name)
        return _entry_words(gone.kind, gone.id, gone.name, gone.country)

    typer.echo(f"You no longer follow {run_with_resources(context, choose)}.")


@commands.command()
def following(context: typer.Context, as_json: Json = False) -> None:
    """Show the teams and leagues that are followed, with the next match of each."""

    async def load(resources: "Resources") -> "list[FollowView]":
        from pressbox.footy.adapters.follows import SqlFollows
        from pressbox.footy.settings import FootySettings

        follows = SqlFollows(resources.database, resources.settings.group(FootySettings).followed)
        return list(await follows.load_follows())

    found = run_with_resources(context, load)
    if as_json:
        print_json([asdict(follow) for follow in found])
        return
    for follow in found:
        when = f"  {follow.next_kickoff.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if follow.next_kickoff else ""
        said = _entry_words(follow.kind, follow.id, follow.name, follow.country)
        typer.echo(f"{said}{when}  {follow.next_match}".rstrip())


@commands.command()
def aliases(
    context: typer.Context,
    team_id: Annotated[int, typer.Argument(help="The id of the team at API-Football.")],
    refresh: Annotated[bool, typer.Option("--refresh", help="Look them up again.")] = False,
    as_json: Json = False,
) -> None:
    """Show what else a team is called."""

    async def load(resources: "Resources") -> "TeamView":
        from pressbox.footy.adapters.follows import SqlFollows
        from pressbox.footy.settings import FootySettings

        return await SqlFollows(resources.database, resources.settings.group(FootySettings).followed).load_team(team_id)

    async def refresh_team(resources: "Resources") -> str:
        await load(resources)
        return await _workflows(resources).refresh_aliases(team_id)

    if refresh:
        typer.echo(f"Started {run_with_resources(context, refresh_team)}.", err=as_json)
        return
    team = run_with_resources(context, load)
    if as_json:
        print_json(asdict(team))
        return
    known = f"from {team.alias_source}, {team.fetched_at:%Y-%m-%d %H:%M} UTC" if team.fetched_at else "not looked up"
    typer.echo(f"{team.team_id} {team.name} ({known})")
    for alias in team.aliases:
        typer.echo(f"  {alias}")


@commands.command("test")
def try_services(context: typer.Context) -> None:
    """Ask API-Football and every clip source once, and say how each answers. X's API bills a few posts for it."""

    async def test(resources: "Resources") -> "list[tuple[str, str]]":
        from pressbox.footy.service.trial import try_services

        return await try_services(resources)

    results = run_with_resources(context, test)
    for name, failure in results:
        typer.echo(f"{name}: {failure or 'works'}")
    if any(failure for _, failure in results):
        raise typer.Exit(1)


def _workflows(resources: "Resources") -> "TemporalWorkflows":
    from pressbox.footy.adapters.workflows import TemporalWorkflows
    from pressbox.footy.ids import QUEUE
    from pressbox.footy.settings import FootySettings

    return TemporalWorkflows(resources.temporal, QUEUE, resources.settings.group(FootySettings).policy)


def _require_ready(resources: "Resources") -> None:
    from pressbox.footy.readiness import check_readiness
    from pressbox.footy.settings import FootySettings

    missing = check_readiness(resources.settings.group(FootySettings)).missing
    if missing:
        raise ConfigurationError(" ".join(f"{item.name} is not set. {item.advice}" for item in missing))


async def _load_all(load_page: "Callable[[int | None], Awaitable[Page[Item]]]") -> list[Item]:
    found: list[Item] = []
    after: int | None = None
    while True:
        page = await load_page(after)
        found.extend(page.items)
        after = page.after
        if after is None:
            return found


def _parse_day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise InvalidInputError("--date has the form 2027-05-01.", field="date") from error


def _entry_words(kind: str, number: int, name: str, country: str) -> str:
    """As "Arsenal · England (team:42)"."""
    return f"{' · '.join(filter(None, (name, country))) or kind.title()} ({kind}:{number})"


def _fixture_line(fixture: "FixtureView") -> str:
    home, away = fixture.home, fixture.away
    score = "-" if home.goals is None else f"{home.goals}:{away.goals}"
    minute = f" {fixture.elapsed}'" if fixture.live and fixture.elapsed is not None else ""
    trouble = f"  ! {fixture.trouble}" if fixture.trouble else ""
    when = f"{fixture.kickoff.astimezone(UTC):%H:%M}"
    return f"{fixture.fixture_id:<10} {when} {fixture.status + minute:<9} {home.name} {score} {away.name}{trouble}"


def _goal_line(hit: "GoalHit") -> str:
    goal = hit.goal
    who = goal.player_name or "unknown scorer"
    match = f"{hit.home_name} {goal.home_score}:{goal.away_score} {hit.away_name}"
    return f"{goal.event_id:<32} {goal.minute + chr(39):<7} {who:<24} {match:<40} {goal.state}, {len(goal.clips)} clips"


def _audit_lines(audit: "AuditView") -> list[str]:
    goal = audit.goal
    lines = [
        f"{goal.player_name or 'unknown scorer'} ({goal.team_name}), {goal.minute}', {goal.detail}: {goal.state}",
        audit.summary,
        f"First seen {goal.first_seen:%Y-%m-%d %H:%M:%S} UTC; registers: {len(audit.sightings)} sightings, "
        f"{len(audit.misses)} misses, {len(audit.downloads)} downloads",
    ]
    lines += [f"  {note.at:%H:%M:%S} {note.what} {note.before} → {note.after}".rstrip(" →") for note in audit.notes]
    from pressbox.footy.domain.trail import Step, build_rows

    for row in build_rows(audit):
        if row.step is Step.SEARCH:
            answer = f"failed: {row.reason}" if row.failed else f"{row.count} found  {row.reason}"
            lines.append(f"  {row.at:%H:%M:%S} searched {row.subject} {row.times}×: {answer}")
        elif row.step is Step.DOWNLOAD:
            lines.append(f"  {row.at:%H:%M:%S} downloads {row.times}×: {row.result}")
    for item in audit.candidates.items:
        reason = f" ({item.reason})" if item.reason else ""
        lines.append(f"  {item.source} {item.video_page_url}: {item.outcome}{reason}")
    if audit.candidates.after is not None:
        lines.append(f"  and more than these {len(audit.candidates.items)}; the page of the goal shows all")
    return lines
