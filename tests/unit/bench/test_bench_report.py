"""How figures are judged and shown."""

import json
from datetime import UTC, datetime

import pytest
import typer
from typer.testing import CliRunner

from pressbox.bench.memory import PartMemory
from pressbox.bench.platform import memory_figures
from pressbox.bench.report import Better, Figure, Machine, Report, describe_machine, format_table
from pressbox.bench.throughput import HistoryEvents
from pressbox.entry.commands.bench import bench_commands


def report(*figures: Figure) -> Report:
    machine = Machine(system="Linux", processors=2, load_before=0.5, python="3.11.7", pressbox="0.1.0")
    return Report(name="platform", measured_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC), machine=machine, figures=figures)


@pytest.mark.parametrize(
    ("value", "aim", "better", "met"),
    [
        (5.0, 10.0, Better.LOWER, True),
        (10.0, 10.0, Better.LOWER, True),
        (10.1, 10.0, Better.LOWER, False),
        (0.0, 0.0, Better.LOWER, True),
        (0.01, 0.0, Better.LOWER, False),
        (30.0, 20.0, Better.HIGHER, True),
        (10.0, 20.0, Better.HIGHER, False),
        (10.0, None, Better.LOWER, None),
    ],
)
def test_an_aim_is_met_or_missed(value: float, aim: float | None, better: Better, met: bool | None) -> None:
    assert Figure(name="x", value=value, unit="s", aim=aim, better=better).met is met


def test_the_ratio_is_ours_to_the_peers() -> None:
    assert Figure(name="x", value=30, unit="per second", peer=40).ratio == 0.75
    assert Figure(name="x", value=30, unit="per second").ratio is None
    assert Figure(name="x", value=30, unit="per second", peer=0).ratio is None


def test_the_table_shows_peer_ratio_and_aim() -> None:
    text = format_table(
        report(
            Figure(name="second start", value=3.14159, unit="s", aim=10),
            Figure(name="workflows", value=30, unit="per second", peer=40, peer_name="bare", better=Better.HIGHER),
            Figure(name="memory", value=1234.5, unit="MB", aim=600, note="resident more"),
        )
    )
    head, empty, columns, *rows = text.splitlines()
    assert head.startswith("platform, 2026-01-02 03:04 UTC: 2 processors")
    assert empty == ""
    assert columns.split() == ["figure", "value", "peer", "ratio", "aim"]
    assert [" ".join(row.split()) for row in rows] == [
        "second start 3.14 s ≤ 10 s: met",
        "workflows 30 per second 40 per second (bare) 0.75",
        "memory 1,234 MB ≤ 600 MB: missed resident more",
    ]


def test_json_carries_ratio_and_judgement() -> None:
    figure = Figure(name="x", value=1, unit="s", peer=2, peer_name="y", aim=3)
    (shown,) = json.loads(report(figure).model_dump_json())["figures"]
    assert (shown["ratio"], shown["met"], shown["better"]) == (0.5, True, "lower")


def test_memory_adds_up_without_counting_shared_pages_twice() -> None:
    parts = (PartMemory("postgres", 9, 200_000_000, 50_000_000), PartMemory("web", 1, 150_000_000, 120_000_000))
    *each, together = memory_figures(parts)
    assert [figure.value for figure in each] == [50, 120]
    assert (together.value, together.aim, together.met) == (170, 450, True)
    assert "resident 350 MB" in together.note


def test_events_per_report_is_what_reporting_adds() -> None:
    assert HistoryEvents(silent=35, reporting=35, reports=100).per_report == 0
    assert HistoryEvents(silent=35, reporting=85, reports=100).per_report == 0.5


def test_the_machine_is_described() -> None:
    machine = describe_machine()
    assert machine.processors >= 1
    assert machine.python.startswith("3.")


def test_the_help_lists_the_benchmarks() -> None:
    root = typer.Typer()
    root.add_typer(bench_commands, name="bench")
    shown = CliRunner().invoke(root, ["bench", "--help"])
    assert shown.exit_code == 0
    assert "platform" in shown.output
