"""Workers from manifests: one per task queue, all on the process's one client."""

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.worker import (
    FixedSizeSlotSupplier,
    Interceptor,
    PollerBehaviorAutoscaling,
    ResourceBasedSlotConfig,
    ResourceBasedSlotSupplier,
    ResourceBasedTunerConfig,
    Worker,
    WorkerTuner,
)

from pressbox.core.app import AppManifest, Resources, TaskQueue
from pressbox.core.config import WorkerSettings
from pressbox.core.errors import InvalidInputError, PressboxError
from pressbox.core.progress.interceptor import ProgressInterceptor
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.core.temporal.faults import FaultInterceptor
from pressbox.core.temporal.versions import deployment_config, workflow_runner

# What the SDK knows of a line becomes fields of it (core/logs.py), and no text behind the message.
activity.logger.activity_info_on_message = False
workflow.logger.workflow_info_on_message = False

# What a heavy queue gets however little the machine has left: a person's question must not wait for that.
_SHARE_KEPT = 4


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
        tuner=_tune(settings, activities, heavy=queue.heavy),
        max_cached_workflows=settings.max_cached_workflows,
        workflow_task_poller_behavior=PollerBehaviorAutoscaling(),
        activity_task_poller_behavior=PollerBehaviorAutoscaling(),
        graceful_shutdown_timeout=timedelta(seconds=settings.graceful_shutdown_seconds),
        deployment_config=deployment_config(settings),
        workflow_runner=workflow_runner(settings),
        # A plain exception would retry the workflow task for ever; ours means that the workflow has failed.
        workflow_failure_exception_types=[PressboxError],
    )


def _tune(settings: WorkerSettings, activities: int, *, heavy: bool) -> WorkerTuner:
    """How much is taken at a time: fixed numbers, but of heavy activities only what the machine can bear."""
    fixed = FixedSizeSlotSupplier(activities)
    local = FixedSizeSlotSupplier(settings.max_concurrent_local_activities)
    bearable = ResourceBasedSlotSupplier(
        ResourceBasedSlotConfig(
            minimum_slots=min(activities, max(2, activities // _SHARE_KEPT)), maximum_slots=activities
        ),
        ResourceBasedTunerConfig(settings.memory_target_percent / 100, settings.processor_target_percent / 100),
    )
    return WorkerTuner.create_composite(
        workflow_supplier=FixedSizeSlotSupplier(settings.max_concurrent_workflow_tasks),
        activity_supplier=bearable if heavy else fixed,
        local_activity_supplier=local,
        nexus_supplier=local,
    )
