"""`pressbox bench all`: every benchmark whose figures can be compared with the last release's, one after the other.

Left out are those that play a whole match day or let one person disturb another: their figures vary too much.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from types import ModuleType
from typing import Any

from pressbox.bench.ratios import Ratio, Ratios, list_ratios, measure_loop, take_medians
from pressbox.bench.report import Report, Say, describe_machine
from pressbox.core.app import AppManifest
from pressbox.core.config import Settings
from pressbox.core.errors import InvalidInputError, PressboxError
from pressbox.core.logs import redact


@dataclass(frozen=True)
class Stage:
    """What benchmarks need beyond their own size."""

    say: Say
    settings: Settings
    manifests: Sequence[AppManifest]


@dataclass(frozen=True)
class Bench:
    """A benchmark by the place of its function, since each loads only what it measures.

    `quick` makes a size that takes seconds beyond the start of an instance; the function's own one may take minutes.
    """

    name: str
    place: str
    quick: Callable[[ModuleType], Mapping[str, Any]]
    full: Callable[[ModuleType], Mapping[str, Any]] = lambda _: {}

    def load(self, stage: Stage, *, quick: bool) -> tuple[Callable[..., Report], Mapping[str, Any]]:
        """Return the function and its arguments."""
        path, _, name = self.place.partition(":")
        module = import_module(f"pressbox.bench.{path}")
        function = getattr(module, name)
        given = {"say": stage.say, "settings": stage.settings, "manifests": stage.manifests}
        wanted = {key: value for key, value in given.items() if key in function.__annotations__}
        return function, {**wanted, **(self.quick if quick else self.full)(module)}


BENCHES = (
    Bench(
        "platform",
        "platform:run_platform",
        lambda module: {"scale": module.Scale(workflows=60, steps=2, reports=5, clients=50)},
    ),
    Bench(
        "cost",
        "cost.run:run_cost",
        lambda _: {"sizes": (10,), "kinds": ()},
        lambda module: {"sizes": module.SIZES, "kinds": ()},
    ),
    Bench("broadcast", "broadcast:run_broadcast", lambda _: {"deliveries": 300}),
    Bench(
        "reminders",
        "reminders:run_reminders",
        lambda module: {"scale": module.Scale(subscriptions=50, sampled=10, changed=4, due=10)},
    ),
    Bench("due", "due_at_once:run_due_at_once", lambda _: {"people": 300}),
    Bench("cancellation", "cancellation:run_cancellation", lambda _: {"people": 100}),
    Bench("goal", "goal:run_goal", lambda _: {"followers": (50,)}),
    Bench("monitor", "monitor:run_monitor", lambda _: {"sizes": (20,)}),
    Bench("match", "match:run_match", lambda _: {"stored": 50}),
    Bench("fingerprint", "fingerprint:run_fingerprint", lambda _: {"seconds": 6, "height": 360}),
    Bench("clock", "clock:run_clock", lambda _: {"pictures": 24}),
    Bench("crawl", "crawl:run_crawl", lambda module: {"scale": module.Scale(feeds=100, sampled=10)}),
    Bench("opml", "opml:run_opml", lambda _: {"feeds": 30}),
    Bench("ingest", "ingest:run_ingest", lambda _: {"channels": 4, "articles_each": 5}),
    Bench("extract", "extract:run_extract", lambda _: {"rounds": 1}),
    Bench("search", "search:run_search", lambda _: {"count": 2_000, "queries": 40}),
    Bench("graph", "graph:run_graph", lambda _: {"edges": 2_000, "queries": 40}),
    Bench("ask", "ask:run_ask", lambda _: {"entries": 500, "timed": 10}),
    Bench("reader", "reader:run_reader", lambda _: {"entries": 5_000, "feeds": 50, "requests": 20}),
    Bench("reader-api", "reader_api:run_reader_api", lambda _: {"entries": 5_000, "feeds": 50, "requests": 5}),
    Bench("together", "together:run_together", lambda module: {"size": module.Size(5_000, 200, 200)}),
)


def run_all(
    stage: Stage,
    save: Callable[[Ratios], None],
    *,
    quick: bool = False,
    names: Sequence[str] = (),
    rounds: int = 1,
) -> Ratios:
    """Run the benchmarks and save what there is after each, because all together take long.

    Of several rounds the median counts. A benchmark that fails is named, and the others go on.
    """
    found = Ratios(measured_at=datetime.now(UTC), machine=describe_machine(), quick=quick)
    for bench in choose(names):
        try:
            ratios = take_medians([_measure(bench, stage, quick=quick) for _ in range(rounds)])
            found = found.model_copy(update={"ratios": (*found.ratios, *ratios)})
        except (PressboxError, TimeoutError) as error:
            reason = redact(str(error)) or type(error).__name__
            found = found.model_copy(update={"failed": {**found.failed, bench.name: reason}})
        save(found)
    return found


def choose(names: Sequence[str]) -> Sequence[Bench]:
    """Return the named benchmarks, or all."""
    known = {bench.name: bench for bench in BENCHES}
    unknown = sorted(set(names) - known.keys())
    if unknown:
        raise InvalidInputError(f"No such benchmark: {', '.join(unknown)}. There are: {', '.join(known)}.")
    return [bench for bench in BENCHES if not names or bench.name in names]


def _measure(bench: Bench, stage: Stage, *, quick: bool) -> tuple[Ratio, ...]:
    function, arguments = bench.load(stage, quick=quick)
    stage.say(f"Benchmark {bench.name}")
    # Before each, since a machine may be faster at one time than at another.
    loop_seconds = measure_loop()
    return list_ratios(function(**arguments), loop_seconds)
