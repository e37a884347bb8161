"""Every benchmark runs, from its function to its figures, in the smallest size it has. No test looks at a time."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from typer.main import get_group

from pressbox.bench import ask_library, due_at_once, duplicates, platform, reminders, together
from pressbox.bench.ask import run_ask
from pressbox.bench.broadcast import run_broadcast
from pressbox.bench.cancellation import run_cancellation
from pressbox.bench.fairness import run_fairness
from pressbox.bench.fingerprint import run_fingerprint
from pressbox.bench.goal import run_goal
from pressbox.bench.ingest import run_ingest
from pressbox.bench.matchday import run_matchday
from pressbox.bench.monitor import run_monitor
from pressbox.bench.reader import run_reader
from pressbox.bench.reader_api import run_reader_api
from pressbox.bench.report import Report, format_table
from pressbox.core.config import Settings
from pressbox.demo.clips.spec import Disguise
from pressbox.entry.commands.bench import bench_commands
from pressbox.entry.manifests import APPLICATIONS
from tests.architecture.source import ROOT

# Those whose function another test runs whole.
ELSEWHERE = {
    "all": "test_bench_all.py",
    "clock": "test_bench_clock.py",
    "cost": "test_bench_cost.py",
    "crawl": "test_bench_crawl.py",
    "extract": "test_bench_extract.py",
    "graph": "test_bench_graph.py",
    "match": "test_bench_clips.py",
    "opml": "test_bench_opml.py",
    "search": "test_bench_search.py",
}


def be_silent(_: str) -> None:
    """Nobody watches."""


def measure_platform(_: Settings) -> Report:
    scale = platform.Scale(workflows=2, rounds=1, steps=1, reports=1, clients=2, idle_seconds=0)
    return platform.run_platform(be_silent, scale)


def measure_duplicates(settings: Settings) -> Report:
    kinds = (Disguise.GREY, Disguise.CROP_20)
    scale = duplicates.Scale(broadcasts=1, clips=2, disguised=2, dull=0, kinds=kinds)
    return duplicates.run_duplicates(be_silent, settings, scale=scale)


def measure_reminders(_: Settings) -> Report:
    return reminders.run_reminders(be_silent, reminders.Scale(subscriptions=2, sampled=1, changed=1, due=1))


def measure_together(_: Settings) -> Report:
    return together.run_together(be_silent, APPLICATIONS, together.Size(200, 20, 20), requests=3)


SMALLEST: dict[str, Callable[[Settings], Report]] = {
    "platform": measure_platform,
    "broadcast": lambda _: run_broadcast(be_silent, deliveries=2),
    "reminders": measure_reminders,
    "due": lambda _: due_at_once.run_due_at_once(be_silent, people=2),
    "cancellation": lambda _: run_cancellation(be_silent, people=2),
    "monitor": lambda _: run_monitor(be_silent, sizes=(2,)),
    "duplicates": measure_duplicates,
    "fingerprint": lambda settings: run_fingerprint(be_silent, settings, seconds=1, height=90),
    "matchday": lambda _: run_matchday(be_silent, matches=1, goals=1, speed=10),
    "reader": lambda _: run_reader(be_silent, entries=500, feeds=5, requests=2),
    "together": measure_together,
    "goal": lambda _: run_goal(be_silent, followers=(1,)),
    "fairness": lambda _: run_fairness(be_silent, streams=2, requests=3),
    "reader-api": lambda _: run_reader_api(be_silent, entries=500, feeds=5, requests=2),
    "ingest": lambda _: run_ingest(be_silent, channels=1, articles_each=1),
    "ask": lambda _: run_ask(be_silent, entries=20, timed=2),
}


def test_no_benchmark_is_left_out() -> None:
    assert {*SMALLEST, *ELSEWHERE} == set(get_group(bench_commands).commands)
    assert not SMALLEST.keys() & ELSEWHERE.keys()
    files = {file.name: file.read_text() for file in (ROOT / "tests").rglob("test_bench_*.py")}
    for name, file in ELSEWHERE.items():
        runs = rf"\brun_{name}\(" if name != "all" else r"\[\"all\", "
        assert re.search(runs, files[file]), f"{file} does not run {name}"


@pytest.mark.slow
@pytest.mark.limit(900)
@pytest.mark.parametrize("name", SMALLEST)
def test_a_benchmark_runs_in_its_smallest_size(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_at_once, "PREPARING", timedelta(seconds=10))
    # The pages of the demo are few; recorded ones would be read for minutes.
    monkeypatch.setattr(ask_library, "REAL_TEXTS", tmp_path / "nowhere")
    report = SMALLEST[name](Settings(home=tmp_path / "home"))
    assert report.name == name
    assert report.figures
    assert all(figure.name in format_table(report) for figure in report.figures)
