"""Ratios of a run beside those of the last release, so that what got slower or larger is seen.

A figure with a peer is its ratio to that peer, which the same run measured. A time without one is divided by the time
of a fixed loop of the same run, so that it depends less on the machine. Anything else, such as events or megabytes,
stays as it is.
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.bench.report import Better, Figure, Machine, Report
from pressbox.core.errors import ConfigurationError

# Worse by more than a fifth is told.
TOLERANCE = 1.2
LOOP = "a fixed loop"
_LOOP_STEPS = 400_000
_LOOP_ROUNDS = 5
_SECONDS = {"s": 1.0, "ms": 0.001}


class Ratio(BaseModel):
    """One figure of one benchmark. `against` names the peer; it is empty where the value is compared as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bench: str
    figure: str
    value: float
    against: str = ""
    better: Better = Better.LOWER

    @property
    def key(self) -> tuple[str, str]:
        return self.bench, self.figure


class Ratios(BaseModel):
    """The file of one run. `failed` holds the benchmarks that could not be measured, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    measured_at: datetime
    machine: Machine
    quick: bool
    ratios: tuple[Ratio, ...] = ()
    failed: Mapping[str, str] = {}


class Change(BaseModel):
    """A ratio that both runs have. `times_worse` is above 1 for what got worse, below it for what got better."""

    model_config = ConfigDict(frozen=True)

    before: Ratio
    now: Ratio

    @property
    def times_worse(self) -> float:
        better, worse = self.before.value, self.now.value
        if self.now.better is Better.HIGHER:
            better, worse = worse, better
        if better == worse:
            return 1.0
        return worse / better if better > 0 else math.inf

    @property
    def is_worse(self) -> bool:
        return self.times_worse > TOLERANCE


class Comparison(BaseModel):
    """Two runs side by side. `missing` were in the release and are not in this run; `other` have another peer."""

    model_config = ConfigDict(frozen=True)

    changes: tuple[Change, ...]
    missing: tuple[Ratio, ...]
    other: tuple[Ratio, ...]

    @property
    def worse(self) -> tuple[Change, ...]:
        """What got worse by more than a fifth, the worst first."""
        return tuple(sorted((one for one in self.changes if one.is_worse), key=lambda one: -one.times_worse))


def measure_loop() -> float:
    """Return the processor seconds of a fixed piece of work, in the round that other work disturbed least."""
    return min(_time_loop() for _ in range(_LOOP_ROUNDS))


def _time_loop() -> float:
    began = time.process_time()
    words: dict[str, int] = {}
    for step in range(_LOOP_STEPS):
        word = str(step % 1009)
        words[word] = words.get(word, 0) + step
    return time.process_time() - began


def list_ratios(report: Report, loop_seconds: float) -> tuple[Ratio, ...]:
    """Return the ratios of a report. An indented figure belongs to the one above it that is not."""
    ratios: list[Ratio] = []
    above = ""
    for figure in report.figures:
        name = figure.name.strip()
        if figure.name[:1].isspace():
            name = f"{above}: {name}"
        else:
            above = name
        value, against = _relate(figure, loop_seconds)
        ratios.append(Ratio(bench=report.name, figure=name, value=value, against=against, better=figure.better))
    return tuple(ratios)


def _relate(figure: Figure, loop_seconds: float) -> tuple[float, str]:
    if figure.ratio is not None:
        return figure.ratio, figure.peer_name or "peer"
    if figure.unit in _SECONDS:
        return figure.value * _SECONDS[figure.unit] / loop_seconds, LOOP
    if "per second" in f"{figure.name} {figure.unit}":
        return figure.value * loop_seconds, LOOP
    return figure.value, ""


def take_medians(rounds: Iterable[Sequence[Ratio]]) -> tuple[Ratio, ...]:
    """Return one ratio for each figure, in the order of the first round; a figure may be missing in some."""
    found: dict[tuple[str, str], list[Ratio]] = {}
    for ratios in rounds:
        for ratio in ratios:
            found.setdefault(ratio.key, []).append(ratio)
    return tuple(same[0].model_copy(update={"value": median(one.value for one in same)}) for same in found.values())


def check_sizes(before: Ratios, *, quick: bool) -> None:
    """Refuse to compare what was measured with other sizes, before the time for it is spent."""
    if before.quick != quick:
        raise ConfigurationError(
            f"The last release was measured {'with' if before.quick else 'without'} --quick, so with other sizes. "
            "Do the same, or replace it with --as-release."
        )


def compare(before: Ratios, now: Ratios, names: Sequence[str] = ()) -> Comparison:
    """Compare with the last release; with names only these benchmarks, because no others were run."""
    measured = {ratio.key: ratio for ratio in now.ratios}
    wanted = [ratio for ratio in before.ratios if not names or ratio.bench in names]
    pairs = [(old, measured[old.key]) for old in wanted if old.key in measured]
    return Comparison(
        changes=tuple(Change(before=old, now=new) for old, new in pairs if old.against == new.against),
        missing=tuple(old for old in wanted if old.key not in measured),
        other=tuple(new for old, new in pairs if old.against != new.against),
    )


def load_ratios(file: Path) -> Ratios | None:
    """Return what a file holds; None without the file."""
    try:
        return Ratios.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise ConfigurationError(
            f"{file} is not a file of ratios that this version can read. Remove it, or measure the release again with "
            "--as-release."
        ) from error
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror or error}.") from error


def save_ratios(file: Path, ratios: Ratios) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{ratios.model_dump_json(indent=1)}\n", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror or error}.") from error


def format_comparison(comparison: Comparison) -> str:
    """A table for people of everything that was compared, then what got worse."""
    rows = [("figure", "last release", "now", "change", "")]
    rows += [
        (
            f"{change.now.bench}: {change.now.figure}",
            f"{change.before.value:.4g}",
            f"{change.now.value:.4g}",
            _describe(change),
            f"beside {change.now.against}" if change.now.against else "",
        )
        for change in comparison.changes
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    worse = comparison.worse
    lines += ["", f"Worse by more than a fifth: {len(worse) or 'nothing'}"]
    lines += [f"  {one.now.bench}: {one.now.figure} ({_describe(one)})" for one in worse]
    lines += [f"Not measured this time: {one.bench}: {one.figure}" for one in comparison.missing]
    lines += [f"Not comparable, beside another peer: {one.bench}: {one.figure}" for one in comparison.other]
    return "\n".join(lines)


def _describe(change: Change) -> str:
    times = change.times_worse
    if math.isinf(times):
        return "worse, from nothing"
    if times == 0:
        return "better, to nothing"
    return f"{times:.2f} times worse" if times >= 1 else f"{1 / times:.2f} times better"
