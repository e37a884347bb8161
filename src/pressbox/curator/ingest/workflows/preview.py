"""PreviewFetchWorkflow: shows what extraction rules would make of a page."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityConfig

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import NOBODY
    from pressbox.core.progress.contracts import Progress
    from pressbox.core.temporal.calls import call
    from pressbox.curator.ingest.activities import FetchActivities
    from pressbox.curator.ingest.contracts import FetchContentInput, PreviewFetchInput, PreviewFetchOutput

# A person waits for the result.
INTERACTIVE = ActivityConfig(
    start_to_close_timeout=timedelta(seconds=60),
    schedule_to_close_timeout=timedelta(seconds=90),
    heartbeat_timeout=timedelta(seconds=20),
    retry_policy=RetryPolicy(maximum_attempts=2),
)


@workflow.defn
class PreviewFetchWorkflow:
    """Reads one page with rules that are not saved yet, and keeps the result for a while.

    Id `preview-…` with the person, who has one at a time; started by the page of a source, which waits for it. A page
    that cannot be read is a result too.
    """

    @workflow.query
    def get_progress(self) -> Progress:
        return Progress(title="Preview of a page", audience=NOBODY, routine=True)

    @workflow.run
    async def run(self, input: PreviewFetchInput) -> PreviewFetchOutput:
        wanted = FetchContentInput(
            url=input.url,
            rules=input.rules,
            preview_key=input.preview_key,
            person_id=input.person_id,
            policy=input.policy,
        )
        # Not behind the articles of all feeds, which fill the queue for heavy work.
        quick = ActivityConfig(**INTERACTIVE, task_queue=workflow.info().task_queue)
        result = await call(FetchActivities.fetch_single_content, wanted, quick)
        return PreviewFetchOutput(
            ok=result.fetched,
            preview_key=input.preview_key if result.fetched else "",
            title=result.title,
            words=result.words,
            error=result.reason,
        )
