"""`pressbox bench NAME`: measure on this machine, against peers and aims. Each loads only what it measures."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json
from pressbox.core.errors import InvalidInputError
from pressbox.entry.settings import prepare_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pressbox.bench.all_benches import Stage
    from pressbox.bench.ratios import Ratios
    from pressbox.bench.report import Report


class Steps:
    """Tells whoever watches what is being done and how long the step before took; a pipe stays quiet."""

    def __init__(self) -> None:
        self._begun: float | None = None

    def __call__(self, step: str) -> None:
        self.finish()
        if sys.stderr.isatty():
            self._begun = time.monotonic()
            typer.echo(f"{step} …", err=True)

    def finish(self) -> None:
        if self._begun is not None:
            typer.echo(f"    {time.monotonic() - self._begun:,.1f} s", err=True)
            self._begun = None


_say = Steps()
bench_commands = typer.Typer(help="Measure on this machine, beside peers and aims.", no_args_is_help=True)


@bench_commands.command()
def platform(as_json: Json = False) -> None:
    """Starts, idle memory, workflows per second, history of progress, live updates to 500 browsers."""
    from pressbox.bench.platform import run_platform

    prepare_settings()
    _print(run_platform(_say), as_json=as_json)


@bench_commands.command()
def broadcast(
    people: Annotated[int, typer.Option("--people", min=2, help="Who gets the message.")] = 10_000,
    workers: Annotated[int, typer.Option("--workers", min=1, max=16, help="Workers that share it.")] = 1,
    as_json: Json = False,
) -> None:
    """One message to 10,000 people, beside one HTTP call after the other."""
    from pressbox.bench.broadcast import run_broadcast

    prepare_settings()
    _print(run_broadcast(_say, people, workers), as_json=as_json)


@bench_commands.command()
def reminders(as_json: Json = False) -> None:
    """Reminder schedules of 1,000 people made, moved and deleted, and a move while some are due."""
    from pressbox.bench.reminders import run_reminders

    prepare_settings()
    _print(run_reminders(_say), as_json=as_json)


@bench_commands.command()
def due(
    people: Annotated[int, typer.Option("--people", min=1, help="Who is reminded in that second.")] = 10_000,
    workers: Annotated[int, typer.Option("--workers", min=1, max=16, help="Workers that share it.")] = 1,
    as_json: Json = False,
) -> None:
    """10,000 reminders of one event that are due in the same second: who gets one, and when."""
    from pressbox.bench.due_at_once import run_due_at_once

    prepare_settings()
    _print(run_due_at_once(_say, people, workers), as_json=as_json)


@bench_commands.command()
def cost(
    sizes: Annotated[list[int] | None, typer.Option("--size", min=1, help="Items; may be given several times.")] = None,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", help="Only this kind; may be given several times.")
    ] = None,
    as_json: Json = False,
) -> None:
    """History events, actions and SQL statements per article, feed, question, poll and sweep, and an idle month."""
    from pressbox.bench.cost.run import SIZES, run_cost
    from pressbox.entry.manifests import APPLICATIONS

    prepare_settings()
    _print(run_cost(_say, APPLICATIONS, sizes or SIZES, kinds or ()), as_json=as_json)


@bench_commands.command()
def cancellation(
    people: Annotated[int, typer.Option(min=1, help="Subscribers, with two reminders each.")] = 10_000,
    as_json: Json = False,
) -> None:
    """An event of 10,000 people with two reminders each is cancelled: when the first and the last one hears it."""
    from pressbox.bench.cancellation import run_cancellation

    prepare_settings()
    _print(run_cancellation(_say, people), as_json=as_json)


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
def duplicates(
    filmed: Annotated[
        Path | None, typer.Option(help="A folder with filmed clips, which are cut and altered too.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Copies of clips in 54 disguises: how many are found, and how many strangers are taken for copies."""
    from pressbox.bench.duplicates import run_duplicates

    _print(run_duplicates(_say, prepare_settings(), filmed=filmed), as_json=as_json)


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
def together(
    entries: Annotated[int, typer.Option(min=1_000)] = 200_000,
    matches: Annotated[int, typer.Option(min=100)] = 10_000,
    events: Annotated[int, typer.Option(min=100)] = 10_000,
    home: Annotated[Path | None, typer.Option(help="Folder that is filled once and kept for further runs.")] = None,
    as_json: Json = False,
) -> None:
    """The first page and the search as one types over 200,000 entries, 10,000 matches and 10,000 events."""
    from pressbox.bench.together import Size, run_together
    from pressbox.entry.manifests import APPLICATIONS

    prepare_settings()
    _print(run_together(_say, APPLICATIONS, Size(entries, matches, events), home), as_json=as_json)


@bench_commands.command()
def goal(
    followers: Annotated[
        list[int] | None, typer.Option("--followers", min=1, max=100_000, help="May be given several times.")
    ] = None,
    as_json: Json = False,
) -> None:
    """One goal to 1, 1,000 and 10,000 followers: events, statements, requests, and when it is on which way."""
    from pressbox.bench.goal import FOLLOWERS, run_goal

    prepare_settings()
    _print(run_goal(_say, followers or FOLLOWERS), as_json=as_json)


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
def opml(
    data: Annotated[Path | None, typer.Option(help="A folder of recorded feeds; otherwise feeds of our own.")] = None,
    feeds: Annotated[int, typer.Option(min=1, max=20_000)] = 300,
    as_json: Json = False,
) -> None:
    """Feeds by OPML on a new instance: when there is something to read, when all were read, and how many are unread."""
    from pressbox.bench.opml import run_opml

    prepare_settings()
    _print(run_opml(_say, data, feeds), as_json=as_json)


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


@bench_commands.command("all")
def run_all(
    names: Annotated[
        list[str] | None, typer.Option("--only", help="Only this benchmark; may be given several times.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, for a first look.")] = False,
    rounds: Annotated[int, typer.Option(min=1, max=9, help="How often each runs; the median counts.")] = 1,
    file: Annotated[Path, typer.Option(help="Where the ratios of this run are written.")] = Path(
        "docs/bench/latest.json"
    ),
    release: Annotated[Path, typer.Option(help="The ratios of the last release.")] = Path(
        "docs/bench/last-release.json"
    ),
    as_release: Annotated[
        bool, typer.Option("--as-release", help="Keep this run as that of the release, after it is compared.")
    ] = False,
    as_json: Json = False,
) -> None:
    """All ratios in one file, beside those of the last release; fails when one got worse by more than a fifth."""
    from pressbox.bench import all_benches
    from pressbox.bench.ratios import check_sizes, compare, format_comparison, load_ratios, save_ratios
    from pressbox.entry.manifests import APPLICATIONS

    if as_release and names:
        raise InvalidInputError("A release is measured as a whole: leave out --only or --as-release.")
    before = load_ratios(release)
    if before and not as_release:
        check_sizes(before, quick=quick)
    stage = all_benches.Stage(_say, prepare_settings(), APPLICATIONS)
    now = _run_benches(stage, file, quick=quick, names=names or (), rounds=rounds)
    comparison = compare(before, now, names or ()) if before and before.quick == quick else None
    if as_json:
        typer.echo(comparison.model_dump_json(indent=2) if comparison else now.model_dump_json(indent=2))
    elif comparison:
        typer.echo(format_comparison(comparison))
    else:
        why = f"{release} is of other sizes" if before else f"There is no {release}"
        typer.echo(f"{why}, so nothing was compared. --as-release writes it.")
    typer.echo(f"{len(now.ratios)} ratios are in {file}.", err=True)
    for name, reason in now.failed.items():
        typer.echo(f"{name} could not be measured: {reason}", err=True)
    if as_release and not now.failed:
        save_ratios(release, now)
        typer.echo(f"They are the last release's from now on: {release}.", err=True)
    if now.failed or (comparison and comparison.worse):
        raise typer.Exit(1)


def _run_benches(stage: Stage, file: Path, *, quick: bool, names: Sequence[str], rounds: int) -> Ratios:
    """Run the benchmarks, and write what there is after each."""
    from pressbox.bench.all_benches import choose, run_all
    from pressbox.bench.ratios import save_ratios

    watched = sys.stderr.isatty()
    with typer.progressbar(length=len(choose(names)), label="Benchmarks", file=sys.stderr, hidden=not watched) as bar:

        def keep(found: Ratios) -> None:
            _say.finish()
            save_ratios(file, found)
            bar.update(1)

        return run_all(stage, keep, quick=quick, names=names, rounds=rounds)


def _print(report: Report, *, as_json: bool) -> None:
    from pressbox.bench.report import format_table

    _say.finish()
    typer.echo(report.model_dump_json(indent=2) if as_json else format_table(report))
