"""Workers from manifests: one per task queue, all on the process's one client."""

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from temporalio.worker import Interceptor, PollerBehaviorAutoscaling, Worker

from pressbox.core.app import AppManifest, Resources, TaskQueue
from pressbox.core.errors import InvalidInputError, PressboxError
from pressbox.core.progress.interceptor import ProgressInterceptor
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.core.temporal.faults import FaultInterceptor


def build_workers(
    resources: Resources, manifests: Iterable[AppManifest], sink: ProgressSink, queues: Collection[str] = ()
) -> tuple[Worker, ...]:
    """A worker for every declared queue, or only for the named ones."""
    declared = {queue.name for manifest in manifests for queue in manifest.queues}
    unknown = sorted(set(queues) - declared)
    if unknown:
        raise InvalidInputError(f"No such task queue: {', '.join(unknown)}. There are: {', '.join(sorted(declared))}.")
    shared = _interceptors(resources, sink)
    return tuple(
        _worker(resources, manifest, queue, shared)
        for manifest in manifests
        for queue in manifest.queues
        if not queues or queue.name in queues
    )


def _interceptors(resources: Resources, sink: ProgressSink) -> Sequence[Interceptor]:
    faults = resources.settings.testing.faults_directory
    # The first is the outermost: a planted fault must be translated like a real one.
    return [ErrorInterceptor(), *([FaultInterceptor(faults)] if faults else []), ProgressInterceptor(sink.offer)]


def _worker(
    resources: Resources, manifest: AppManifest, queue: TaskQueue, interceptors: Sequence[Interceptor]
) -> Worker:
    settings = resources.settings.worker
    activities = queue.max_concurrent_activities or settings.max_concurrent_activities
    return Worker(
        resources.temporal,
        task_queue=queue.name,
        workflows=manifest.workflows().get(queue.name, ()),
        activities=manifest.activities(resources).get(queue.name, ()),
        activity_executor=ThreadPoolExecutor(activities, thread_name_prefix=f"activity-{queue.name}"),
        interceptors=interceptors,
        max_concurrent_activities=activities,
        max_concurrent_workflow_tasks=settings.max_concurrent_workflow_tasks,
        max_cached_workflows=settings.max_cached_workflows,
        workflow_task_poller_behavior=PollerBehaviorAutoscaling(),
        activity_task_poller_behavior=PollerBehaviorAutoscaling(),
        graceful_shutdown_timeout=timedelta(seconds=settings.graceful_shutdown_seconds),
        # A plain exception would retry the workflow task for ever; ours means that the workflow has failed.
        workflow_failure_exception_types=[PressboxError],
    )
