"""The report of a benchmark: figures with a peer or an aim, as a table for people and as JSON for programs."""

import os
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from importlib.metadata import version

from pydantic import BaseModel, ConfigDict, computed_field

# Reports what a benchmark is doing, because it takes a while.
Say = Callable[[str], None]


class Better(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"


class Machine(BaseModel):
    """Where the figures were measured: those of two machines cannot be compared."""

    model_config = ConfigDict(frozen=True)

    system: str
    processors: int
    load_before: float
    python: str
    pressbox: str


class Figure(BaseModel):
    """One figure. `peer` is the same work done in a plain way, in the same run on the same machine."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float
    unit: str
    better: Better = Better.LOWER
    peer: float | None = None
    peer_name: str = ""
    aim: float | None = None
    note: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def ratio(self) -> float | None:
        """Our value divided by the peer's."""
        return None if not self.peer else self.value / self.peer

    @computed_field  # type: ignore[prop-decorator]
    @property
    def met(self) -> bool | None:
        """Whether the aim was reached, for people only; None without an aim."""
        if self.aim is None:
            return None
        return self.value <= self.aim if self.better is Better.LOWER else self.value >= self.aim


class Report(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    measured_at: datetime
    machine: Machine
    figures: tuple[Figure, ...]


def percentile_milliseconds(seconds: Sequence[float], percentile: int) -> float:
    return 1000 * statistics.quantiles(seconds, n=100, method="inclusive")[percentile - 1]


def describe_machine() -> Machine:
    return Machine(
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        processors=os.cpu_count() or 1,
        load_before=round(os.getloadavg()[0], 2),
        python=".".join(str(part) for part in sys.version_info[:3]),
        pressbox=version("pressbox"),
    )


def format_table(report: Report) -> str:
    """A table for people; columns are as wide as their longest entry."""
    rows = [("figure", "value", "peer", "ratio", "aim", "")] + [_format_row(figure) for figure in report.figures]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    machine = report.machine
    head = (
        f"{report.name}, {report.measured_at:%Y-%m-%d %H:%M} UTC: {machine.processors} processors "
        f"(load {machine.load_before:g} before), {machine.system}, Python {machine.python}, Pressbox {machine.pressbox}"
    )
    return "\n".join((head, "", *lines))


def _format_row(figure: Figure) -> tuple[str, str, str, str, str, str]:
    peer = "" if figure.peer is None else f"{_format_number(figure.peer)} {figure.unit} ({figure.peer_name})"
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    return (
        figure.name,
        f"{_format_number(figure.value)} {figure.unit}",
        peer,
        ratio,
        _format_aim(figure),
        figure.note,
    )


def _format_aim(figure: Figure) -> str:
    if figure.aim is None:
        return ""
    bound = "≤" if figure.better is Better.LOWER else "≥"
    return f"{bound} {_format_number(figure.aim)} {figure.unit}: {'met' if figure.met else 'missed'}"


def _format_number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.2f}"
