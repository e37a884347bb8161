"""Starts and signals footy's workflows through Temporal's client."""

import asyncio
import secrets
from collections.abc import Sequence
from datetime import timedelta

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.contracts import Contract
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.footy.contracts.aliases import RAGWorkflowInput
from pressbox.footy.contracts.download import Batch, DownloadWorkflowInput
from pressbox.footy.contracts.ingest import IngestWorkflowInput
from pressbox.footy.contracts.monitor import MonitorWorkflowInput
from pressbox.footy.contracts.upload import UploadWorkflowInput
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ids import (
    ADD_VIDEOS_SIGNAL,
    DOWNLOAD_WORKFLOW,
    FETCH_AGAIN_SIGNAL,
    INGEST,
    INGEST_BY_HAND,
    INGEST_FOLLOWED,
    MONITOR,
    MONITOR_BY_HAND,
    RAG,
    UPLOAD_WORKFLOW,
    download_workflow_id,
    rag_workflow_id,
    upload_workflow_id,
)

RPC_TIMEOUT = timedelta(seconds=10)


class TemporalWorkflows:
    def __init__(self, client: Client, task_queue: str, policy: FootyPolicy) -> None:
        self._client = client
        self._task_queue = task_queue
        self._policy = policy

    async def add_videos(self, fixture_id: int, event_id: str, batch: Batch, policy: FootyPolicy) -> None:
        with translate_rpc_errors():
            await self._client.start_workflow(
                UPLOAD_WORKFLOW,
                UploadWorkflowInput(fixture_id=fixture_id, event_id=event_id, policy=policy),
                id=upload_workflow_id(event_id),
                task_queue=self._task_queue,
                start_signal=ADD_VIDEOS_SIGNAL,
                start_signal_args=[batch],
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                rpc_timeout=RPC_TIMEOUT,
            )

    async def start_download(self, input: DownloadWorkflowInput) -> None:
        with translate_rpc_errors():
            try:
                await self._client.start_workflow(
                    DOWNLOAD_WORKFLOW,
                    input,
                    id=download_workflow_id(input.goal, input.attempt),
                    task_queue=self._task_queue,
                    id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                    id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                    rpc_timeout=RPC_TIMEOUT,
                )
            except WorkflowAlreadyStartedError:
                # An attempt before this one started it, or an earlier run of the search.
                return

    async def find_running(self, workflow_ids: Sequence[str]) -> Sequence[str]:
        """Ask one by one, because lists of workflows lag behind."""
        with translate_rpc_errors():
            answers = await asyncio.gather(*(self._is_running(workflow_id) for workflow_id in workflow_ids))
        return [workflow_id for workflow_id, runs in zip(workflow_ids, answers, strict=True) if runs]

    async def start_ingest(self, fixture_ids: Sequence[int]) -> str:
        input = IngestWorkflowInput(fixture_ids=tuple(fixture_ids), policy=self._policy)
        return await self._start(INGEST, input, f"{INGEST_BY_HAND}-{secrets.token_hex(4)}")

    async def fetch_followed(self) -> str:
        with translate_rpc_errors():
            handle = await self._client.start_workflow(
                INGEST,
                IngestWorkflowInput(policy=self._policy),
                id=INGEST_FOLLOWED,
                task_queue=self._task_queue,
                start_signal=FETCH_AGAIN_SIGNAL,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                rpc_timeout=RPC_TIMEOUT,
            )
        return handle.id

    async def start_monitor(self) -> str:
        input = MonitorWorkflowInput(policy=self._policy)
        return await self._start(MONITOR, input, f"{MONITOR_BY_HAND}-{secrets.token_hex(4)}")

    async def refresh_aliases(self, team_id: int) -> str:
        input = RAGWorkflowInput(team_id=team_id, refresh=True, policy=self._policy)
        return await self._start(RAG, input, rag_workflow_id(team_id))

    async def _start(self, workflow: str, input: Contract, workflow_id: str) -> str:
        with translate_rpc_errors():
            handle = await self._client.start_workflow(
                workflow,
                input,
                id=workflow_id,
                task_queue=self._task_queue,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                rpc_timeout=RPC_TIMEOUT,
            )
        return handle.id

    async def _is_running(self, workflow_id: str) -> bool:
        try:
            found = await self._client.get_workflow_handle(workflow_id).describe(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise
        return found.status is WorkflowExecutionStatus.RUNNING
