"""What people wait for, as numbers: manifests declare them, and all are read by one statement.

Whoever asks several times in a few seconds hears the same numbers, so that many scrapers cost what one does.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import text

from pressbox.core.app import AppManifest
from pressbox.core.db.database import Database
from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger

KEPT_SECONDS = 10.0
_LIMIT_SECONDS = 5.0
READABLE = "pressbox_measures_readable"

log = get_logger(__name__)


@dataclass(frozen=True)
class Measure:
    """A gauge. `rows` is a query of two columns: the value of the label, empty where there is none, and the number.

    It must not read more than the work that waits, or a day of it.
    """

    name: str
    help: str
    rows: str
    label: str = ""


CORE_MEASURES = (
    Measure(
        "pressbox_tokens_today",
        "Tokens of the day's budget that were spent, by feature.",
        "SELECT feature, sum(weight) FROM core.paid_requests "
        "WHERE at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' GROUP BY feature",
        label="feature",
    ),
    Measure(
        "pressbox_runs_failed_last_hour",
        "Workflows that failed within the last hour, by type.",
        "SELECT workflow_type, count(*) FROM core.workflow_progress "
        "WHERE state = 'failed' AND updated_at > now() - interval '1 hour' GROUP BY workflow_type",
        label="workflow",
    ),
)


def declared_measures(manifests: Sequence[AppManifest]) -> tuple[Measure, ...]:
    return (*CORE_MEASURES, *(measure for manifest in manifests for measure in manifest.measures()))


class Measures:
    """Reads the declared measures of one database."""

    def __init__(self, database: Database, declared: Sequence[Measure], kept_seconds: float = KEPT_SECONDS) -> None:
        self._database = database
        self._declared = declared
        self._kept_seconds = kept_seconds
        self._turn = asyncio.Lock()
        self._text, self._read_at = b"", float("-inf")

    async def exposition(self) -> bytes:
        """The numbers as Prometheus reads them. If they cannot be read, a gauge says so, and nothing else is said."""
        async with self._turn:
            if time.monotonic() - self._read_at > self._kept_seconds:
                self._text = _exposition(await self._families())
                self._read_at = time.monotonic()
        return self._text

    async def _families(self) -> Sequence[GaugeMetricFamily]:
        readable = GaugeMetricFamily(READABLE, "1 if what people wait for could be read from the database.")
        try:
            async with asyncio.timeout(_LIMIT_SECONDS):
                found = await self._read()
        except (PressboxError, TimeoutError) as error:
            log.warning("measures_unreadable", msg="What people wait for cannot be measured", error=str(error))
            readable.add_metric((), 0)
            return (readable,)
        readable.add_metric((), 1)
        return (readable, *(_family(measure, found) for measure in self._declared))

    async def _read(self) -> list[tuple[str, str, float]]:
        parts = (
            f"SELECT '{measure.name}' AS name, CAST(label AS text) AS label, CAST(value AS double precision) AS value "  # noqa: S608
            f"FROM ({measure.rows}) AS measured (label, value)"
            for measure in self._declared
        )
        async with self._database.unit_of_work() as work:
            rows = await work.session.execute(text(" UNION ALL ".join(parts)))
            return [(row.name, row.label or "", row.value or 0.0) for row in rows]


def _family(measure: Measure, found: Sequence[tuple[str, str, float]]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(measure.name, measure.help, labels=(measure.label,) if measure.label else ())
    for name, label, value in found:
        if name == measure.name:
            family.add_metric((label,) if measure.label else (), value)
    return family


def _exposition(families: Sequence[GaugeMetricFamily]) -> bytes:
    class Given(Collector):
        def collect(self) -> Iterator[GaugeMetricFamily]:
            yield from families

    registry = CollectorRegistry()
    registry.register(Given())
    return generate_latest(registry)
