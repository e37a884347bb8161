"""How much longer everything may take here and now than on a quiet machine: measured once, and one factor for all."""

import os
import time
from dataclasses import dataclass
from functools import cache

# How the process that measured tells those that it starts.
VARIABLE = "TESTS_SLOWNESS"
MOST = 10.0
STEPS = 20_000_000
# What an ordinary processor needs for the steps.
ORDINARY_SECONDS = 0.5


@dataclass(frozen=True)
class Work:
    """A piece of work: how long it took, and how much of that was spent on it."""

    elapsed: float
    processor: float


def patience(seconds: float) -> float:
    """How long to wait here and now for what has this long on a quiet machine."""
    return seconds * slowness()


@cache
def slowness() -> float:
    """At least one. The first process of a run measures; the others find the answer in their environment."""
    told = os.environ.get(VARIABLE)
    if told:
        return float(told)
    measured = slowness_of(work(), os.getloadavg()[0], os.cpu_count() or 1)
    os.environ[VARIABLE] = str(measured)
    return measured


def slowness_of(work: Work, load: float, cores: int) -> float:
    """A slow processor counts and a busy one does; the load knows of others that pause just now."""
    now = work.elapsed / min(work.processor, ORDINARY_SECONDS)
    return round(min(MOST, max(1.0, now, load / cores)), 1)


def work() -> Work:
    elapsed, processor = time.perf_counter(), time.process_time()
    for _ in range(STEPS):
        pass
    return Work(time.perf_counter() - elapsed, time.process_time() - processor)
