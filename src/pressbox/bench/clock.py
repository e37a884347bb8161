"""`pressbox bench clock`: how well the offline judge reads the clock of a scorebug, on pictures drawn for this."""

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.bench.scorebugs import Sample, Scorebug, draw, scorebugs
from pressbox.footy.domain.clock import Doubt, possible_times
from pressbox.footy.domain.judgements import FrameJudgement
from pressbox.footy.ports.outside import Judge
from pressbox.footy.wiring import offline_judge

PICTURES = 320
RIGHT_AIM = 0.9
WRONG_AIM = 0.01


class Reading(StrEnum):
    """RIGHT: the minute that is shown, or nothing if none is shown. WRONG: another minute. NONE: not read, or a
    stopped clock whose second timer was not read, which leaves open how much time has passed.
    """

    RIGHT = "right"
    WRONG = "wrong"
    NONE = "none"


@dataclass(frozen=True)
class Read:
    bug: Scorebug
    reading: Reading
    seconds: float


def read_one(bug: Scorebug, judgement: FrameJudgement) -> Reading:
    times = possible_times(judgement.reading())
    minute = times[0].minute if times else None
    if minute == bug.minute:
        return Reading.RIGHT
    open_end = bug.minute is not None and any(
        time.doubt is Doubt.STOPPED and time.fits(bug.minute, tolerance=0) for time in times
    )
    return Reading.NONE if minute is None or open_end else Reading.WRONG


@runtime_checkable
class Closing(Protocol):
    async def close(self) -> None: ...


def run_clock(say: Say, pictures: int = PICTURES) -> Report:
    """Takes some minutes on one processor; nothing is downloaded."""
    machine = describe_machine()
    done = asyncio.run(_measure(say, pictures))
    return Report(name="clock", measured_at=datetime.now(UTC), machine=machine, figures=_figures(done))


async def _measure(say: Say, pictures: int) -> Sequence[Read]:
    """Measure the judge that a worker has, in its own process."""
    offline = offline_judge()
    try:
        # Start the process, which loads its models.
        await offline.judge([draw(scorebugs(1)[0]).jpeg])
        done: list[Read] = []
        for number, bug in enumerate(scorebugs(pictures)):
            if number % 40 == 0:
                say(f"{number} of {pictures} scorebugs")
            done.append(await _measure_sample(draw(bug), offline))
        return done
    finally:
        if isinstance(offline, Closing):
            await offline.close()


async def _measure_sample(sample: Sample, offline: Judge) -> Read:
    began = time.perf_counter()
    judged = await offline.judge([sample.jpeg])
    return Read(sample.bug, read_one(sample.bug, judged[0]), time.perf_counter() - began)


def _figures(done: Sequence[Read]) -> tuple[Figure, ...]:
    with_clock = [read for read in done if read.bug.minute is not None]
    without = [read for read in done if read.bug.minute is None]
    return (
        _share_figure("clocks read right", with_clock, Reading.RIGHT, aim=RIGHT_AIM, better=Better.HIGHER),
        _share_figure("pictures read wrong", done, Reading.WRONG, aim=WRONG_AIM),
        _share_figure("clocks not read", with_clock, Reading.NONE),
        _share_figure("clocks seen where there is none", without, Reading.WRONG, aim=WRONG_AIM),
        *_time_figures("a clock is found", [read for read in with_clock if read.reading is Reading.RIGHT]),
        *_time_figures("there is none", without),
        *_group_figures("notation", with_clock, lambda read: read.bug.notation),
        *_group_figures("place", with_clock, lambda read: read.bug.place),
        *_group_figures("contrast", with_clock, lambda read: read.bug.contrast),
        *_group_figures("quality", with_clock, lambda read: read.bug.quality),
        *_group_figures("font", with_clock, lambda read: read.bug.font),
    )


def _share_figure(
    name: str, reads: Sequence[Read], reading: Reading, *, aim: float | None = None, better: Better = Better.LOWER
) -> Figure:
    count = sum(read.reading is reading for read in reads)
    return Figure(
        name=name,
        value=count / max(1, len(reads)),
        unit="of 1",
        better=better,
        aim=aim,
        note=f"{count} of {len(reads)}",
    )


def _time_figures(when: str, reads: Sequence[Read]) -> tuple[Figure, ...]:
    seconds = [read.seconds for read in reads] or [0.0]
    return (
        Figure(
            name=f"one picture when {when}",
            value=1000 * statistics.median(seconds),
            unit="ms",
            note=f"median of {len(reads)}, on one processor; longest {1000 * max(seconds):,.0f} ms",
        ),
    )


def _group_figures(what: str, reads: Sequence[Read], value: Callable[[Read], str]) -> tuple[Figure, ...]:
    counts: Mapping[str, Counter[Reading]] = {kind: Counter() for kind in sorted({value(read) for read in reads})}
    for read in reads:
        counts[value(read)][read.reading] += 1
    return tuple(
        Figure(
            name=f"right by {what}: {kind}",
            value=found[Reading.RIGHT] / found.total(),
            unit="of 1",
            better=Better.HIGHER,
            note=f"{found[Reading.RIGHT]} right, {found[Reading.WRONG]} wrong, {found[Reading.NONE]} not read",
        )
        for kind, found in counts.items()
    )
