"""Is every part well? The same answers serve the status page and `pressbox doctor`.

Every probe has its own time limit and answers in words: what is the matter, and what to do about it.
"""

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from uuid import uuid4

from sqlalchemy import text
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    DescribeTaskQueueRequest,
    DescribeTaskQueueResponse,
    GetSystemInfoRequest,
)
from temporalio.client import Client

from pressbox.core.app import AppManifest, Resources
from pressbox.core.db.versions import NO_RELEASE, current, head, judge_tables, knows, oldest_code, writing_release
from pressbox.core.errors import PressboxError, shorten
from pressbox.core.logs import get_logger, redact
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.core.temporal.schedules import list_schedules

PROBE_LIMIT = timedelta(seconds=5)
# For whoever can wait.
PATIENT_LIMIT = timedelta(seconds=30)
# Only so that a call ends at all: how long one waits for a part is said by the probe.
_CALL_LIMIT = PATIENT_LIMIT
# A worker asks again at least once a minute; Temporal remembers one that is gone for five.
POLLER_LIFE = timedelta(seconds=75)
LAG_WARNING = timedelta(minutes=1)
LITTLE_SPACE_BYTES = 1_000_000_000
NO_SPACE_BYTES = 200_000_000
_SLOW_FIX = "It may only be slow: look again when the machine is less busy, before you change anything."
_CLOCK_FIX = (
    "Look at the clock of the machine and at `pressbox schedules list`. If the clock was ahead once, Temporal waits "
    "until that time comes: correct it and restore a backup made before."
)

log = get_logger(__name__)


class HealthState(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class PartHealth:
    """One part. `detail` says what is the matter, `fix` what to do about it; both are for people."""

    name: str
    state: HealthState
    detail: str
    fix: str = ""
    version: str = ""
    since: datetime | None = None
    lag_seconds: float | None = None


async def check_parts(
    resources: Resources, manifests: Sequence[AppManifest] = (), *, limit: timedelta | None = None
) -> tuple[PartHealth, ...]:
    """Ask all parts at the same time. Without manifests, worker and schedules are not judged: nothing is expected.

    Who can wait gives a `limit` above the usual one: then a part that is slow is told from one that is broken.
    """
    ask = partial(_ask_part, limit=limit or PROBE_LIMIT)
    probes = [
        ask("database", _database(resources), "Look at PRESSBOX_DATABASE_URL, or start it with `pressbox up`."),
        ask("temporal", _temporal(resources), "Look at PRESSBOX_TEMPORAL_…, or start it with `pressbox up`."),
        ask("objects", _objects(resources), "Look at PRESSBOX_OBJECTS_…, the disk and its permissions."),
        ask("home", _home(resources), "Look at PRESSBOX_HOME."),
    ]
    if manifests:
        probes += [
            ask("worker", _worker(resources, manifests), "Start it with `pressbox up` or `pressbox worker`."),
            ask("schedules", _schedules(resources, manifests), "Run `pressbox schedules apply`."),
            ask("tokens", _tokens(resources), "Look at the database."),
        ]
    if any(service.is_configured(resources.settings) for manifest in manifests for service in manifest.paid):
        probes.append(ask("spending", _spending(resources), "Look at the database."))
    own = [_application(manifest, resources, limit or PROBE_LIMIT) for manifest in manifests]
    parts, of_applications = await asyncio.gather(asyncio.gather(*probes), asyncio.gather(*own))
    return (*parts, *(part for found in of_applications for part in found))


async def _application(manifest: AppManifest, resources: Resources, limit: timedelta) -> tuple[PartHealth, ...]:
    """The parts that an application declares itself; when it cannot tell, one that says so."""
    if manifest.health is None:
        return ()
    found: list[PartHealth] = []

    async def ask(health: Callable[[Resources], Awaitable[Sequence[PartHealth]]]) -> PartHealth:
        found.extend(await health(resources))
        return PartHealth(manifest.name, HealthState.OK, "")

    answer = await _ask_part(manifest.name, ask(manifest.health), "Look at the log of the web process.", limit=limit)
    return tuple(found) or (() if answer.state is HealthState.OK else (answer,))


def worst(parts: Sequence[PartHealth]) -> HealthState:
    states = {part.state for part in parts}
    for state in (HealthState.FAILED, HealthState.WARNING):
        if state in states:
            return state
    return HealthState.OK


async def _ask_part(name: str, probe: Awaitable[PartHealth], fix: str, *, limit: timedelta) -> PartHealth:
    """The probe's answer, or a failed part that says why there is none."""
    began = time.monotonic()
    try:
        async with asyncio.timeout(limit.total_seconds()):
            answer = await probe
        return mark_slow(answer, timedelta(seconds=time.monotonic() - began))
    except TimeoutError:
        # Slow and broken look alike; who does what helps against the one would only make the other worse.
        detail, fix = f"No answer within {limit.total_seconds():.0f} seconds.", _SLOW_FIX
    except PressboxError as error:
        detail = error.message
    # The page that tells what is broken must not break itself, whatever a part does.
    except Exception as error:  # noqa: BLE001
        log.warning("probe_failed", msg=f"Checking {name} failed", part=name, error=repr(error))
        detail = f"{type(error).__name__}: {error}"
    return PartHealth(name, HealthState.FAILED, redact(shorten(detail, 300)), fix)


def mark_slow(part: PartHealth, took: timedelta) -> PartHealth:
    """A part that is well, but took longer than pages wait for it, is slow."""
    if part.state is not HealthState.OK or took <= PROBE_LIMIT:
        return part
    slow = f"It is slow: the answer took {took.total_seconds():.0f} seconds."
    return replace(part, state=HealthState.WARNING, detail=f"{slow} {part.detail}".strip(), fix=_SLOW_FIX)


async def _database(resources: Resources) -> PartHealth:
    began = time.monotonic()
    async with resources.database.unit_of_work() as work:
        statement = text("SELECT current_setting('server_version'), pg_postmaster_start_time()")
        version, since = (await work.session.execute(statement)).one()
        milliseconds = (time.monotonic() - began) * 1000
        connection = await work.session.connection()
        found, oldest, writer = await connection.run_sync(
            lambda plain: (current(plain), oldest_code(plain), writing_release(plain))
        )
    needed = await asyncio.to_thread(head)
    if await asyncio.to_thread(judge_tables, found, oldest) is not None:
        detail = f"The tables have version {found or 'none'}; this program needs {needed}."
        fix = "Run `pressbox migrate`."
        if found is not None and not await asyncio.to_thread(knows, found):
            detail = (
                f"A newer Pressbox ({writer or NO_RELEASE}) has brought the tables to version {found}; "
                f"this program knows {needed} at most."
            )
            fix = "Start that newer one again, or restore the backup made before the upgrade."
        return PartHealth("database", HealthState.FAILED, detail, fix, version, since)
    detail = f"PostgreSQL answered in {milliseconds:.0f} ms; tables at version {found}."
    return PartHealth("database", HealthState.OK, detail, version=version, since=since)


async def _temporal(resources: Resources) -> PartHealth:
    client = resources.temporal
    began = time.monotonic()
    with translate_rpc_errors():
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace), timeout=_CALL_LIMIT
        )
        milliseconds = (time.monotonic() - began) * 1000
        info = await client.workflow_service.get_system_info(GetSystemInfoRequest(), timeout=_CALL_LIMIT)
    detail = f"Namespace {client.namespace} answered in {milliseconds:.0f} ms."
    return PartHealth("temporal", HealthState.OK, detail, version=info.server_version)


async def _objects(resources: Resources) -> PartHealth:
    began = time.monotonic()
    key, content = f"scratch/health-{uuid4()}", b"pressbox"
    await resources.objects.put(key, content)
    try:
        same = await resources.objects.get(key) == content
    finally:
        await resources.objects.delete(key)
    milliseconds = (time.monotonic() - began) * 1000
    bucket = resources.settings.objects.bucket
    place = f"Bucket {bucket}" if bucket else "The local folder"
    if not same:
        detail = f"{place} gave back something else than was written."
        return PartHealth("objects", HealthState.FAILED, detail, "Look at the disk or the S3 server; restore a backup.")
    return PartHealth(
        "objects", HealthState.OK, f"{place} took, gave back and removed a file in {milliseconds:.0f} ms."
    )


async def _home(resources: Resources) -> PartHealth:
    return home_space(await asyncio.to_thread(lambda: shutil.disk_usage(resources.settings.home).free))


def home_space(free: int) -> PartHealth:
    """The judgement on the disk's free bytes."""
    detail = f"{free / 1e9:.1f} GB free on the disk of the home folder."
    fix = "Free some space, or move the home folder to a larger disk (PRESSBOX_HOME)."
    if free < NO_SPACE_BYTES:
        return PartHealth("home", HealthState.FAILED, detail, fix)
    if free < LITTLE_SPACE_BYTES:
        return PartHealth("home", HealthState.WARNING, detail, fix)
    return PartHealth("home", HealthState.OK, detail)


async def _spending(resources: Resources) -> PartHealth:
    from pressbox.core.spending.status import budget_part
    from pressbox.core.spending.wiring import budget_status

    return budget_part(await budget_status(resources).load())


async def _tokens(resources: Resources) -> PartHealth:
    from pressbox.core.accounts.tokens import ending_soon

    async with resources.database.unit_of_work() as work:
        number, first = await ending_soon(work.session)
    return tokens_part(number, first)


def tokens_part(number: int, first: datetime | None) -> PartHealth:
    """The judgement on tokens that end soon. Whose they are is nobody else's business."""
    if first is None:
        return PartHealth("tokens", HealthState.OK, "No API token ends soon.")
    many = f"{number} API tokens end" if number != 1 else "An API token ends"
    detail = f"{many} soon, {'the first ' if number != 1 else ''}on {first:%Y-%m-%d}."
    fix = "Its owner sees it on the account page, and makes a new one there for the program that uses it."
    return PartHealth("tokens", HealthState.WARNING, detail, fix)


async def _worker(resources: Resources, manifests: Sequence[AppManifest]) -> PartHealth:
    queues = sorted({queue.name for manifest in manifests for queue in manifest.queues})
    with translate_rpc_errors():
        described = await asyncio.gather(*(_describe_queue(resources.temporal, name) for name in queues))
    pollers = [_live_pollers(queue) for queue in described]
    silent = [name for name, found in zip(queues, pollers, strict=True) if not found]
    lag = max((queue.stats.approximate_backlog_age.ToTimedelta() for queue in described), default=timedelta(0))
    workers = frozenset[str]().union(*pollers)
    if silent:
        detail = f"No worker polls {', '.join(silent)}."
        fix = "Start it with `pressbox up` or `pressbox worker`."
        return PartHealth("worker", HealthState.FAILED, detail, fix, lag_seconds=lag.total_seconds())
    detail = f"{len(workers)} worker process{'es' if len(workers) != 1 else ''} on {', '.join(queues)}."
    if lag > LAG_WARNING:
        detail += f" The oldest task waits for {lag.total_seconds():.0f} seconds."
        fix = "Start another `pressbox worker`, or raise PRESSBOX_WORKER_MAX_CONCURRENT_ACTIVITIES."
        return PartHealth("worker", HealthState.WARNING, detail, fix, lag_seconds=lag.total_seconds())
    return PartHealth("worker", HealthState.OK, detail, lag_seconds=lag.total_seconds())


async def _describe_queue(client: Client, name: str) -> DescribeTaskQueueResponse:
    return await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=name),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
            report_pollers=True,
            report_stats=True,
        ),
        timeout=_CALL_LIMIT,
    )


def _live_pollers(queue: DescribeTaskQueueResponse) -> frozenset[str]:
    oldest = datetime.now(UTC) - POLLER_LIFE
    live = (poller for poller in queue.pollers if poller.last_access_time.ToDatetime(tzinfo=UTC) > oldest)
    return frozenset(poller.identity for poller in live)


async def _schedules(resources: Resources, manifests: Sequence[AppManifest]) -> PartHealth:
    views = await list_schedules(resources, manifests)
    missing = [view.id for view in views if not view.exists]
    wrong = [view.id for view in views if view.problem]
    paused = [view.id for view in views if view.paused]
    if missing:
        detail = f"Declared but not in Temporal: {', '.join(missing)}."
        return PartHealth("schedules", HealthState.FAILED, detail, "Run `pressbox schedules apply`.")
    if wrong:
        detail = f"Their times are wrong: {', '.join(wrong)}."
        return PartHealth("schedules", HealthState.FAILED, detail, _CLOCK_FIX)
    if paused:
        detail = f"These are paused: {', '.join(paused)}."
        fix = f"If that is no longer wanted: `pressbox schedules resume {paused[0]}`."
        return PartHealth("schedules", HealthState.WARNING, detail, fix)
    return PartHealth("schedules", HealthState.OK, f"{len(views)} declared, all present.")
