"""Starts the workflows of ingestion on demand."""

import secrets
from collections.abc import Sequence
from datetime import timedelta

from temporalio.client import Client, WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import TerminatedError

from pressbox.core.app import Resources
from pressbox.core.errors import ConflictError, TransientError
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.curator.ingest.contracts import (
    ALL_FEEDS_INGESTION,
    INGEST_WORKFLOW,
    PREVIEW_FETCH,
    REPROCESS_ENTRIES,
    SINGLE_FEED_INGESTION,
    AllFeedsIngestionInput,
    PreviewFetchInput,
    PreviewFetchOutput,
    ReprocessEntriesInput,
    RuleModel,
    SingleFeedIngestionInput,
    feed_workflow_id,
    preview_key,
    preview_workflow_id,
    reprocess_workflow_id,
)
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.library.domain import CuratorPolicy, ExtractionRule
from pressbox.curator.library.starter import RPC_TIMEOUT, SOMEBODY_WAITS, Starter
from pressbox.curator.settings import CuratorSettings, policy

PREVIEW_TIME = timedelta(seconds=100)
BY_HAND = "by-hand"


class IngestStarter(Starter):
    """Starts ingestion with what the settings say about full texts and summaries."""

    def __init__(
        self,
        client: Client,
        task_queue: str,
        policy: CuratorPolicy,
        *,
        enable_content_fetch: bool = True,
        auto_distill: bool = True,
    ) -> None:
        super().__init__(client, task_queue, policy)
        self._fetch = enable_content_fetch
        self._distill = auto_distill

    async def ingest_feed(self, feed_id: int, name: str = "") -> str:
        """Read one feed; `name` is shown until the work knows what it is called."""
        input = SingleFeedIngestionInput(
            feed_id=feed_id,
            feed_name=name,
            enable_content_fetch=self._fetch,
            auto_distill=self._distill,
            policy=self._policy,
        )
        return await self.start(SINGLE_FEED_INGESTION, input, feed_workflow_id(feed_id), priority=SOMEBODY_WAITS)

    async def ingest_all(self, only_due: bool) -> str:
        input = AllFeedsIngestionInput(
            enable_content_fetch=self._fetch, auto_distill=self._distill, only_due=only_due, policy=self._policy
        )
        return await self.start(ALL_FEEDS_INGESTION, input, f"{INGEST_WORKFLOW}-{BY_HAND}")

    async def reprocess(self, entry_ids: Sequence[int], fetch: bool, distill: bool) -> str:
        input = ReprocessEntriesInput(entry_ids=tuple(entry_ids), fetch=fetch, distill=distill, policy=self._policy)
        key = str(entry_ids[0]) if len(entry_ids) == 1 else secrets.token_hex(4)
        return await self.start(REPROCESS_ENTRIES, input, reprocess_workflow_id(key))

    async def preview(self, url: str, rules: Sequence[ExtractionRule], person_id: int) -> PreviewFetchOutput:
        """Run a preview to its end: somebody waits for it. Another one of the same person ends this one."""
        key = secrets.token_hex(8)
        input = PreviewFetchInput(
            url=url,
            rules=tuple(RuleModel(kind=rule.kind, expression=rule.expression, keep=rule.keep) for rule in rules),
            preview_key=preview_key(key),
            person_id=person_id,
            policy=self._policy,
        )
        with translate_rpc_errors():
            handle = await self._client.start_workflow(
                PREVIEW_FETCH,
                input,
                id=preview_workflow_id(str(person_id)),
                task_queue=self._task_queue,
                result_type=PreviewFetchOutput,
                id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
                execution_timeout=PREVIEW_TIME,
                rpc_timeout=RPC_TIMEOUT,
                priority=SOMEBODY_WAITS,
            )
            try:
                result: PreviewFetchOutput = await handle.result()
            except WorkflowFailureError as error:
                if isinstance(error.cause, TerminatedError):
                    raise ConflictError("A newer preview of yours has taken the place of this one.") from error
                raise TransientError("The preview could not be made in time. Try it again.") from error
        return result


def ingest_starter(resources: Resources) -> IngestStarter:
    curator = resources.settings.group(CuratorSettings)
    return IngestStarter(
        resources.temporal,
        QUEUE,
        policy(resources.settings),
        enable_content_fetch=curator.full_text,
        auto_distill=curator.auto_distill,
    )
