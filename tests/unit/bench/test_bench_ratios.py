"""Ratios of a run beside the last release's: what they are, how they are kept, and what counts as worse."""

import inspect
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pressbox.bench import all_benches
from pressbox.bench.all_benches import BENCHES, Bench, Stage, choose, run_all
from pressbox.bench.ratios import (
    LOOP,
    Change,
    Ratio,
    Ratios,
    check_sizes,
    compare,
    format_comparison,
    list_ratios,
    load_ratios,
    measure_loop,
    save_ratios,
    take_medians,
)
from pressbox.bench.report import Better, Figure, Machine, Report
from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError, InvalidInputError, TransientError
from pressbox.entry.commands.bench import bench_commands

MACHINE = Machine(system="Linux", processors=2, load_before=0.5, python="3.11.7", pressbox="0.1.0")
WHEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def report(*figures: Figure, name: str = "tiny") -> Report:
    return Report(name=name, measured_at=WHEN, machine=MACHINE, figures=figures)


def run_of(*ratios: Ratio, quick: bool = True, failed: Mapping[str, str] | None = None) -> Ratios:
    return Ratios(measured_at=WHEN, machine=MACHINE, quick=quick, ratios=ratios, failed=failed or {})


def ratio(value: float, figure: str = "work", *, better: Better = Better.LOWER, against: str = "peer") -> Ratio:
    return Ratio(bench="tiny", figure=figure, value=value, better=better, against=against)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(lambda _: None, Settings(home=tmp_path), ())


def test_a_figure_is_related_to_its_peer_or_to_the_loop_or_left_as_it_is() -> None:
    found = list_ratios(
        report(
            Figure(name="extract", value=30, unit="ms", peer=20, peer_name="readability"),
            Figure(name="start", value=6, unit="s"),
            Figure(name="one pair", value=8, unit="ms"),
            Figure(name="workflows", value=50, unit="per second", better=Better.HIGHER),
            Figure(name="pages per second", value=40, unit="pages", better=Better.HIGHER),
            Figure(name="idle memory", value=450, unit="MB"),
        ),
        loop_seconds=0.5,
    )
    assert [(one.figure, one.value, one.against) for one in found] == [
        ("extract", 1.5, "readability"),
        ("start", 12.0, LOOP),
        ("one pair", 0.016, LOOP),
        ("workflows", 25.0, LOOP),
        ("pages per second", 20.0, LOOP),
        ("idle memory", 450.0, ""),
    ]
    assert {one.bench for one in found} == {"tiny"}


def test_figures_below_another_are_told_apart_by_it() -> None:
    figures = [
        Figure(name=name, value=1, unit="events")
        for name in ("1 follower", "  statements", "9 followers", "  statements")
    ]
    assert [one.figure for one in list_ratios(report(*figures), 1.0)] == [
        "1 follower",
        "1 follower: statements",
        "9 followers",
        "9 followers: statements",
    ]


def test_the_loop_takes_time() -> None:
    assert measure_loop() > 0


def test_of_several_rounds_the_median_counts() -> None:
    rounds = [(ratio(1.0), ratio(5.0, "other")), (ratio(9.0),), (ratio(2.0),)]
    assert [(one.figure, one.value) for one in take_medians(rounds)] == [("work", 2.0), ("other", 5.0)]


@pytest.mark.parametrize(
    ("before", "now", "better", "times", "worse"),
    [
        (1.0, 1.2, Better.LOWER, 1.2, False),
        (1.0, 1.21, Better.LOWER, 1.21, True),
        (1.0, 0.5, Better.LOWER, 0.5, False),
        (12.0, 10.0, Better.HIGHER, 1.2, False),
        (12.2, 10.0, Better.HIGHER, 1.22, True),
        (1.0, 2.0, Better.HIGHER, 0.5, False),
        (0.0, 0.0, Better.LOWER, 1.0, False),
        (0.0, 3.0, Better.LOWER, math.inf, True),
        (3.0, 0.0, Better.LOWER, 0.0, False),
        (3.0, 0.0, Better.HIGHER, math.inf, True),
    ],
)
def test_worse_by_more_than_a_fifth_is_worse(
    before: float, now: float, better: Better, times: float, worse: bool
) -> None:
    change = Change(before=ratio(before, better=better), now=ratio(now, better=better))
    assert change.times_worse == pytest.approx(times)
    assert change.is_worse is worse


def test_what_is_missing_or_has_another_peer_is_not_compared_but_told() -> None:
    before = run_of(ratio(1, "same"), ratio(1, "gone"), ratio(1, "peer changed", against="old"))
    now = run_of(ratio(2, "same"), ratio(9, "new"), ratio(9, "peer changed", against="new"))
    found = compare(before, now)
    assert [one.now.figure for one in found.changes] == ["same"]
    assert [one.figure for one in found.missing] == ["gone"]
    assert [one.figure for one in found.other] == ["peer changed"]


def test_only_the_benchmarks_that_were_run_are_missed() -> None:
    other = Ratio(bench="elsewhere", figure="work", value=1)
    assert compare(run_of(ratio(1), other), run_of(ratio(1)), ["tiny"]).missing == ()
    assert compare(run_of(ratio(1), other), run_of(ratio(1))).missing == (other,)


def test_the_table_lists_everything_and_then_the_worst_first() -> None:
    before = run_of(ratio(1, "a little"), ratio(1, "much"), ratio(4, "faster"), ratio(0, "lost", against=""))
    now = run_of(ratio(1.5, "a little"), ratio(3, "much"), ratio(2, "faster"), ratio(2, "lost", against=""))
    lines = [" ".join(line.split()) for line in format_comparison(compare(before, now)).splitlines()]
    assert lines == [
        "figure last release now change",
        "tiny: a little 1 1.5 1.50 times worse beside peer",
        "tiny: much 1 3 3.00 times worse beside peer",
        "tiny: faster 4 2 2.00 times better beside peer",
        "tiny: lost 0 2 worse, from nothing",
        "",
        "Worse by more than a fifth: 3",
        "tiny: lost (worse, from nothing)",
        "tiny: much (3.00 times worse)",
        "tiny: a little (1.50 times worse)",
    ]
    same = format_comparison(compare(before, before))
    assert same.endswith("Worse by more than a fifth: nothing")


def test_a_file_holds_what_was_saved(tmp_path: Path) -> None:
    file = tmp_path / "new" / "ratios.json"
    assert load_ratios(file) is None
    kept = run_of(ratio(1.25), failed={"search": "no index"})
    save_ratios(file, kept)
    assert load_ratios(file) == kept
    assert json.loads(file.read_text())["ratios"] == [
        {"bench": "tiny", "figure": "work", "value": 1.25, "against": "peer", "better": "lower"}
    ]


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ratios.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="--as-release"):
        load_ratios(file)


def test_other_sizes_are_refused() -> None:
    check_sizes(run_of(quick=True), quick=True)
    with pytest.raises(ConfigurationError, match="without --quick"):
        check_sizes(run_of(quick=False), quick=True)


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)
@pytest.mark.parametrize("quick", [True, False])
def test_every_benchmark_can_be_called_as_it_is_listed(bench: Bench, stage: Stage, quick: bool) -> None:
    function, arguments = bench.load(stage, quick=quick)
    inspect.signature(function).bind(**arguments)
    assert quick is False or arguments.keys() - {"say", "settings", "manifests"}


def test_every_benchmark_that_can_be_compared_is_listed() -> None:
    listed = {bench.name for bench in BENCHES}
    commands = {str(one.name or one.callback.__name__) for one in bench_commands.registered_commands if one.callback}
    assert commands - listed == {"all", "duplicates", "matchday", "fairness"}
    assert listed <= commands


def test_an_unknown_benchmark_is_refused() -> None:
    assert [one.name for one in choose(["match", "clock"])] == ["match", "clock"]
    with pytest.raises(InvalidInputError, match="sorting"):
        choose(["sorting"])


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """One benchmark that gives these values in turn, and one that fails."""
    values = [1.0]

    def run(self: Bench, stage: Stage, *, quick: bool) -> object:
        def measure() -> Report:
            if self.name == "broken":
                raise TransientError("no database")
            return report(Figure(name="work", value=values[0], unit="s", peer=1, peer_name="peer"))

        return measure, {}

    monkeypatch.setattr(all_benches.Bench, "load", run)
    monkeypatch.setattr(all_benches, "BENCHES", (Bench("tiny", "", lambda _: {}), Bench("broken", "", lambda _: {})))
    return values


def test_one_that_fails_is_named_and_what_there_is_was_saved(stage: Stage, tiny: list[float]) -> None:
    saved: list[Ratios] = []
    found = run_all(stage, saved.append, quick=True)
    assert [one.value for one in found.ratios] == [1.0]
    assert found.failed == {"broken": "no database"}
    assert [(len(one.ratios), [*one.failed]) for one in saved] == [(1, []), (1, ["broken"])]


def test_the_command_compares_with_the_release_and_fails_when_it_got_worse(
    tmp_path: Path, tiny: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSBOX_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(all_benches, "BENCHES", all_benches.BENCHES[:1])
    release, latest = tmp_path / "release.json", tmp_path / "latest.json"
    words = ["all", "--quick", "--file", str(latest), "--release", str(release)]
    runner = CliRunner()
    first = runner.invoke(bench_commands, words)
    assert (first.exit_code, release.exists()) == (0, False)
    assert "There is no" in first.stdout
    assert load_ratios(latest) is not None
    assert runner.invoke(bench_commands, [*words, "--as-release"]).exit_code == 0
    assert load_ratios(release) == load_ratios(latest)
    assert runner.invoke(bench_commands, words).exit_code == 0
    tiny[0] = 1.3
    worse = runner.invoke(bench_commands, words)
    assert worse.exit_code == 1
    assert "tiny: work (1.30 times worse)" in worse.stdout
    kept = load_ratios(release)
    assert kept is not None
    assert [one.value for one in kept.ratios] == [1.0]


def test_a_release_is_measured_as_a_whole(tmp_path: Path) -> None:
    refused = CliRunner().invoke(bench_commands, ["all", "--only", "match", "--as-release"])
    assert isinstance(refused.exception, InvalidInputError)
