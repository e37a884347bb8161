"""Measures how much memory each part of a running instance takes."""

from dataclasses import dataclass

import psutil

from pressbox.demo.instance import Instance
from pressbox.embedded.leftovers import load_parts

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class PartMemory:
    """`resident` counts shared pages in every process; `proportional` divides them, so it can be summed."""

    name: str
    processes: int
    resident: int
    proportional: int


def measure_memory(instance: Instance) -> tuple[PartMemory, ...]:
    """Measure every part with its children, and `up` itself."""
    records = load_parts(instance.home).parts
    parts = [_measure_tree(record.name, psutil.Process(record.process.pid)) for record in records]
    return (*parts, _measure_processes("up", [psutil.Process(instance.process.pid)]))


def _measure_tree(name: str, root: psutil.Process) -> PartMemory:
    return _measure_processes(name, [root, *root.children(recursive=True)])


def _measure_processes(name: str, processes: list[psutil.Process]) -> PartMemory:
    resident = proportional = seen = 0
    for process in processes:
        try:
            facts = process.memory_full_info()
        except psutil.NoSuchProcess:
            # Some processes of PostgreSQL are short-lived.
            continue
        seen += 1
        resident += facts.rss
        # Only Linux reports it; elsewhere the sum is a little too high.
        proportional += getattr(facts, "pss", facts.rss)
    return PartMemory(name, seen, resident, proportional)
