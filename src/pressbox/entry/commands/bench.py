"""`pressbox bench NAME`: measure on this machine, against peers and aims. Each loads only what it measures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json
from pressbox.entry.settings import prepare_settings

if TYPE_CHECKING:
    from pressbox.bench.report import Report

bench_commands = typer.Typer(help="Measure on this machine, beside peers and aims.", no_args_is_help=True)


@bench_commands.command()
def platform(as_json: Json = False) -> None:
    """Starts, idle memory, workflows per second, history of progress, live updates to 500 browsers."""
    from pressbox.bench.platform import run_platform

    prepare_settings()
    _print(run_platform(_say), as_json=as_json)


@bench_commands.command()
def broadcast(as_json: Json = False) -> None:
    """One message to 10,000 people, beside one HTTP call after the other."""
    from pressbox.bench.broadcast import run_broadcast

    prepare_settings()
    _print(run_broadcast(_say), as_json=as_json)


@bench_commands.command()
def reminders(as_json: Json = False) -> None:
    """Reminder schedules of 1,000 people made, moved and deleted, and a move while some are due."""
    from pressbox.bench.reminders import run_reminders

    prepare_settings()
    _print(run_reminders(_say), as_json=as_json)


@bench_commands.command()
def clock(as_json: Json = False) -> None:
    """The offline judge on 320 drawn scorebugs: clocks read right, wrong and not at all, and the time it takes."""
    from pressbox.bench.clock import run_clock

    prepare_settings()
    _print(run_clock(_say), as_json=as_json)


@bench_commands.command()
def monitor(as_json: Json = False) -> None:
    """One poll over 20, 200 and 1,000 live matches, beside one call and one transaction for each."""
    from pressbox.bench.monitor import run_monitor

    prepare_settings()
    _print(run_monitor(_say), as_json=as_json)


@bench_commands.command()
def duplicates(as_json: Json = False) -> None:
    """Copies of clips in 35 disguises: how many are found, and how many strangers are taken for copies."""
    from pressbox.bench.duplicates import run_duplicates

    _print(run_duplicates(_say, prepare_settings()), as_json=as_json)


@bench_commands.command()
def fingerprint(as_json: Json = False) -> None:
    """The fingerprint of a clip of 60 s in 1080p, beside a plain full decode of the same file."""
    from pressbox.bench.fingerprint import run_fingerprint

    _print(run_fingerprint(_say, prepare_settings()), as_json=as_json)


@bench_commands.command()
def match(as_json: Json = False) -> None:
    """Pairs of clips compared per second, beside a plain Python loop, and one clip against 1,000 stored ones."""
    from pressbox.bench.match import run_match

    prepare_settings()
    _print(run_match(_say), as_json=as_json)


@bench_commands.command()
def matchday(
    as_json: Json = False,
    matches: Annotated[int, typer.Option(min=1, max=90, help="Matches at once.")] = 40,
    goals: Annotated[int, typer.Option(min=1, help="Goals that stand in the end.")] = 120,
    speed: Annotated[float, typer.Option(min=0.05, max=10, help="1: a minute of a match takes a second.")] = 0.25,
) -> None:
    """A crowded match day in the demo's world, played to its end: all that is found, memory, lengths of histories."""
    from pressbox.bench.matchday import run_matchday

    prepare_settings()
    _print(run_matchday(_say, matches=matches, goals=goals, speed=speed), as_json=as_json)


@bench_commands.command()
def crawl(as_json: Json = False) -> None:
    """1,000 feeds that answer after 100 ms, one in twenty changed, beside one after the other with feedparser."""
    from pressbox.bench.crawl import run_crawl

    prepare_settings()
    _print(run_crawl(_say), as_json=as_json)


@bench_commands.command()
def search(as_json: Json = False) -> None:
    """50,000 articles in five languages: indexing, and words, phrases, beginnings, slips and CJK, beside PostgreSQL."""
    from pressbox.bench.search import run_search

    prepare_settings()
    _print(run_search(_say), as_json=as_json)


@bench_commands.command()
def extract(
    as_json: Json = False,
    data: Annotated[Path | None, typer.Option(help="Folder of folders with source.html and expected.html.")] = None,
) -> None:
    """The article of a page: how much of the right text is found, and how fast, beside readability-lxml."""
    from pressbox.bench.extract import run_extract

    prepare_settings()
    _print(run_extract(_say, data), as_json=as_json)


@bench_commands.command()
def reader(as_json: Json = False) -> None:
    """Pages of the reader over 200,000 entries of 500 feeds, and the memory of web and worker."""
    from pressbox.bench.reader import run_reader

    prepare_settings()
    _print(run_reader(_say), as_json=as_json)


@bench_commands.command()
def fairness(as_json: Json = False) -> None:
    """A reader's page, quiet and while another member holds 400 streams and previews heavy rules."""
    from pressbox.bench.fairness import run_fairness

    prepare_settings()
    _print(run_fairness(_say), as_json=as_json)


@bench_commands.command("reader-api")
def reader_api(as_json: Json = False) -> None:
    """Streams of 1,000 items for reader apps over 200,000 entries of 500 feeds, beside OFFSET and small pages."""
    from pressbox.bench.reader_api import run_reader_api

    prepare_settings()
    _print(run_reader_api(_say), as_json=as_json)


@bench_commands.command()
def ingest(as_json: Json = False) -> None:
    """20 feeds with 15 articles each from crawl to index: entries per second, events and payloads per entry."""
    from pressbox.bench.ingest import run_ingest

    prepare_settings()
    _print(run_ingest(_say), as_json=as_json)


@bench_commands.command()
def graph(as_json: Json = False) -> None:
    """Entries into the graph of entities, and an entity's neighbours at 100,000 edges, beside plainer ways."""
    from pressbox.bench.graph import run_graph

    prepare_settings()
    _print(run_graph(_say), as_json=as_json)


@bench_commands.command()
def ask(
    as_json: Json = False,
    data: Annotated[Path | None, typer.Option(help="Folder with articles and feeds to ask about.")] = None,
) -> None:
    """Is the right page found for a question, by which way, and how long a question takes at 50,000 entries."""
    from pressbox.bench.ask import run_ask

    prepare_settings()
    _print(run_ask(_say, data), as_json=as_json)


def _print(report: Report, *, as_json: bool) -> None:
    from pressbox.bench.report import format_table

    typer.echo(report.model_dump_json(indent=2) if as_json else format_table(report))


def _say(step: str) -> None:
    # For whoever watches; a pipe stays quiet.
    if sys.stderr.isatty():
        typer.echo(f"{step} …", err=True)
