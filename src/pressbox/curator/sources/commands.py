"""`pressbox feeds`: sources from the terminal of whoever runs this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json, print_json, run_with_resources
from pressbox.core.errors import InvalidInputError
from pressbox.curator.library.command_line import User, run_for_user, user_id

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.curator.sources.domain import FeedView, ImportView

commands = typer.Typer(help="Sources of the reader: feeds and how they are.", no_args_is_help=True)


@commands.command()
def add(
    context: typer.Context,
    address: Annotated[str, typer.Argument(help="Of a site, or of a feed itself.")],
    user: User = None,
    title: Annotated[str, typer.Option(help="Otherwise the feed's own.")] = "",
    category: Annotated[str, typer.Option(help="Made when it does not exist.")] = "",
    as_json: Json = False,
) -> None:
    """Subscribe to a feed; it is read at once."""

    async def subscribe(resources: Resources, person: int) -> FeedView:
        from pressbox.curator.sources.wiring import source_service

        sources = source_service(resources)
        chosen = await sources.create_category(person, category) if category.strip() else None
        return await sources.add(person, address, title=title, category_id=chosen.id if chosen else None)

    feed = run_for_user(context, user, subscribe)
    if as_json:
        print_json(asdict(feed))
    else:
        typer.echo(_line(feed))


@commands.command("list")
def list_feeds(context: typer.Context, user: User = None, as_json: Json = False) -> None:
    """Show all feeds of this instance, or those of one person."""
    found = _load_feeds(context, user)
    if as_json:
        print_json([asdict(feed) for feed in found])
        return
    for feed in found:
        typer.echo(_line(feed))


@commands.command("import")
def import_opml(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="An OPML file; - reads standard input.", allow_dash=True)],
    user: User = None,
    as_json: Json = False,
) -> None:
    """Subscribe to everything that an OPML file lists; what cannot be used is named."""
    content = _read(file)

    async def import_file(resources: Resources, person: int) -> ImportView:
        from pressbox.curator.sources.wiring import outline_service

        return await outline_service(resources).take(person, content)

    report = run_for_user(context, user, import_file)
    if as_json:
        print_json(asdict(report))
        return
    for line in _import_lines(report):
        typer.echo(line)


@commands.command()
def export(
    context: typer.Context,
    user: User = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Otherwise standard output.")] = None,
) -> None:
    """Write the feeds of a person as OPML."""

    async def export_feeds(resources: Resources, person: int) -> bytes:
        from pressbox.curator.sources.wiring import outline_service

        return await outline_service(resources).export(person)

    content = run_for_user(context, user, export_feeds)
    if output is None:
        typer.echo(content.decode(), nl=False)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise InvalidInputError(f"Cannot write {output}: {error.strerror}.", field="output") from error
    typer.echo(f"Written to {output}.")


@commands.command()
def health(
    context: typer.Context,
    user: User = None,
    every: Annotated[bool, typer.Option("--all", help="Also those that are well.")] = False,
    as_json: Json = False,
) -> None:
    """Show feeds that fail: why, since when, and when they are tried again."""
    found = _load_feeds(context, user)
    shown = [feed for feed in found if every or feed.health.failing]
    if as_json:
        print_json([_health(feed) for feed in shown])
        return
    for feed in shown:
        for line in _health_lines(feed):
            typer.echo(line)
    failing = sum(feed.health.failing for feed in found)
    typer.echo(f"Feeds: {len(found)}, failing: {failing}.", err=True)


def _load_feeds(context: typer.Context, user: str | None) -> Sequence[FeedView]:
    async def load(resources: Resources) -> Sequence[FeedView]:
        from pressbox.curator.sources.store import SqlSubscriptions

        subscriptions = SqlSubscriptions(resources.database)
        if user is None:
            return await subscriptions.everything()
        return (await subscriptions.sources(await user_id(resources, user))).feeds

    return run_with_resources(context, load)


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"Cannot read {file}: {error.strerror}.", field="file") from error


def _line(feed: FeedView) -> str:
    return f"{feed.id:<8} {_state(feed):<16} {feed.title:<40} {feed.url}"


def _state(feed: FeedView) -> str:
    if feed.paused_at:
        return "paused"
    if feed.health.outcome is None:
        return "not read yet"
    return feed.health.outcome.value if feed.health.failing else "fine"


def _health(feed: FeedView) -> dict[str, object]:
    told = {"id": feed.id, "title": feed.title, "url": feed.url, "paused_at": feed.paused_at}
    return told | asdict(feed.health) | {"failing": feed.health.failing}


def _health_lines(feed: FeedView) -> list[str]:
    health = feed.health
    lines = [_line(feed)]
    if health.failing:
        since = f", since {_moment(health.failing_since)}" if health.failing_since else ""
        lines.append(f"         {health.reason} ({health.failures} times in a row{since})")
    again = "tried" if health.failing else "read"
    following = f"again {_moment(health.next_crawl_at)}" if health.next_crawl_at else "no more by itself"
    return [*lines, f"         {again} {following}"]


def _import_lines(report: ImportView) -> list[str]:
    broken = [f"  {problem}" for problem in report.broken]
    summary = f"New feeds: {report.added}. There already: {report.known}. Of no use: {len(broken)}."
    reading = (
        ["New feeds are read in the background; `pressbox feeds health` tells how they are."] if report.added else []
    )
    return [summary, *broken, *reading]


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
