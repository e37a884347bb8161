"""Versions of workers: which of them begins new runs, and what becomes of runs that an older one began.

Off unless PRESSBOX_WORKER_DEPLOYMENT names a deployment. Then a run of a pinned workflow type stays with the version
that began it, and a run of the others goes on with the current version; see pinning.py.
"""

from dataclasses import dataclass

from google.protobuf.field_mask_pb2 import FieldMask
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.deployment.v1 import WorkerDeploymentInfo
from temporalio.api.enums.v1 import VersionDrainageStatus
from temporalio.api.workflow.v1 import VersioningOverride, WorkflowExecutionOptions
from temporalio.api.workflowservice.v1 import (
    DescribeWorkerDeploymentRequest,
    ListWorkerDeploymentsRequest,
    SetWorkerDeploymentCurrentVersionRequest,
    UpdateWorkflowExecutionOptionsRequest,
)
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import WorkerDeploymentConfig, WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from pressbox.core.config import WorkerSettings
from pressbox.core.errors import ConflictError
from pressbox.core.logs import get_logger
from pressbox.core.release import release
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.core.temporal.pinning import behaviour_of

log = get_logger(__name__)

_PINNED = "ExecutionStatus = 'Running' AND TemporalWorkflowVersioningBehavior = 'Pinned'"
_DRAINAGE = {
    VersionDrainageStatus.VERSION_DRAINAGE_STATUS_DRAINING: "runs of it are open",
    VersionDrainageStatus.VERSION_DRAINAGE_STATUS_DRAINED: "no run of it is open",
}


@dataclass(frozen=True)
class KnownVersion:
    """A version that workers of the deployment had, and how far it is from its end."""

    build_id: str
    current: bool
    state: str


def own_version(settings: WorkerSettings) -> WorkerDeploymentVersion | None:
    """The version of the workers of this program; None while versions are off."""
    if settings.deployment is None:
        return None
    return WorkerDeploymentVersion(settings.deployment, settings.build_id or release())


def deployment_config(settings: WorkerSettings) -> WorkerDeploymentConfig | None:
    own = own_version(settings)
    if own is None:
        return None
    # The SDK wants a default; every type of ours says itself what it is.
    return WorkerDeploymentConfig(
        version=own, use_worker_versioning=True, default_versioning_behavior=VersioningBehavior.AUTO_UPGRADE
    )


def workflow_runner(settings: WorkerSettings) -> WorkflowRunner:
    return SandboxedWorkflowRunner() if settings.deployment is None else VersionedRunner()


class VersionedRunner(SandboxedWorkflowRunner):
    """The usual runner, which also tells Temporal what each type said of itself."""

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        instance = super().create_instance(det)
        activate, behaviour = instance.activate, behaviour_of(det.defn.cls)

        def activate_with_behaviour(act: WorkflowActivation) -> WorkflowActivationCompletion:
            completion = activate(act)
            if completion.HasField("successful"):
                completion.successful.versioning_behavior = behaviour.value
            return completion

        instance.activate = activate_with_behaviour  # type: ignore[method-assign]
        return instance


class Deployments:
    """What Temporal knows of our deployments, and the few things that are done to them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def settle(self, own: WorkerDeploymentVersion | None) -> None:
        """Put one version in charge of everything on this server, without versions if there is none.

        For a server on which nobody else works: whatever another version began is taken over.
        """
        for name in await self._named():
            if own is None or name != own.deployment_name:
                await self._set_current(name, "")
        if own is not None:
            await self.promote(own)
        taken = await self.take_over(own)
        if taken:
            log.info("runs_taken_over", msg=f"{taken} runs of other versions go on with this one", runs=taken)

    async def promote(self, chosen: WorkerDeploymentVersion, *, unseen: bool = True) -> None:
        """Let this version begin new runs, and continue those that are not pinned.

        With `unseen`, also before a worker of it has polled.
        """
        try:
            await self._set_current(chosen.deployment_name, chosen.build_id, unseen=unseen)
        except RPCError as error:
            if error.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION):
                raise ConflictError(
                    f"No worker of version {chosen.build_id} polls yet. Start its workers first, one for each queue."
                ) from error
            raise

    async def retire(self, name: str) -> None:
        """Leave versions: workers without one begin new runs from now on."""
        await self._set_current(name, "")

    async def take_over(self, own: WorkerDeploymentVersion | None) -> int:
        """Let the current version continue runs that are pinned to another; returns how many those were."""
        others = f"{_PINNED} AND TemporalWorkerDeploymentVersion != '{_canonical(own)}'" if own else _PINNED
        taken = 0
        with translate_rpc_errors():
            async for run in self._client.list_workflows(others):
                taken += await self._unpin(run.id, run.run_id)
        return taken

    async def versions(self, name: str) -> tuple[KnownVersion, ...]:
        with translate_rpc_errors(missing=f"No worker of a deployment {name} has polled yet."):
            answer = await self._client.workflow_service.describe_worker_deployment(
                DescribeWorkerDeploymentRequest(namespace=self._client.namespace, deployment_name=name)
            )
        info: WorkerDeploymentInfo = answer.worker_deployment_info
        current = info.routing_config.current_deployment_version.build_id
        # The list says how far each is from its end: one that is just being registered cannot be asked for alone.
        states = {one.deployment_version.build_id: one.drainage_info.status for one in info.version_summaries}
        return tuple(
            KnownVersion(build, build == current, _DRAINAGE.get(status, "")) for build, status in sorted(states.items())
        )

    async def _named(self) -> list[str]:
        """The deployments in which a version is in charge."""
        with translate_rpc_errors():
            answer = await self._client.workflow_service.list_worker_deployments(
                ListWorkerDeploymentsRequest(namespace=self._client.namespace, page_size=100)
            )
        return [
            found.name
            for found in answer.worker_deployments
            if found.routing_config.current_deployment_version.build_id
        ]

    async def _set_current(self, name: str, build_id: str, *, unseen: bool = True) -> None:
        await self._client.workflow_service.set_worker_deployment_current_version(
            SetWorkerDeploymentCurrentVersionRequest(
                namespace=self._client.namespace,
                deployment_name=name,
                build_id=build_id,
                # A queue that a release gave up must not hold the release up.
                ignore_missing_task_queues=True,
                allow_no_pollers=unseen,
            )
        )

    async def _unpin(self, workflow_id: str, run_id: str) -> int:
        try:
            await self._client.workflow_service.update_workflow_execution_options(
                UpdateWorkflowExecutionOptionsRequest(
                    namespace=self._client.namespace,
                    workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
                    workflow_execution_options=WorkflowExecutionOptions(
                        versioning_override=VersioningOverride(auto_upgrade=True)
                    ),
                    update_mask=FieldMask(paths=["versioning_override"]),
                )
            )
        except RPCError as error:
            # It has ended since it was listed.
            if error.status is RPCStatusCode.NOT_FOUND:
                return 0
            raise
        return 1


def _canonical(chosen: WorkerDeploymentVersion) -> str:
    # As Temporal stores it for searches; names and versions of ours hold no quotes.
    return f"{chosen.deployment_name}:{chosen.build_id}"
