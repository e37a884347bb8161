"""DigestWorkflow: sends the digests that are due."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.digest.activities import DigestActivities
    from pressbox.digest.contracts import DigestPageInput, DigestProgress, DigestWorkflowInput, DigestWorkflowResult

# Thousands of people; a worker that looks starts another run for the rest.
MOST_PAGES = 200


@workflow.defn
class DigestWorkflow:
    """Sends page after page until nothing is due.

    Id `digest-due`, started by a worker that sees that one is due; `digest-…`, started hourly by the schedule `digest`
    for what nobody saw, or by hand from the status page. Two of them share the work: rows are claimed by lease. A
    retried activity takes over what its earlier attempt had claimed.
    """

    @workflow.init
    def __init__(self, input: DigestWorkflowInput) -> None:
        self._progress = DigestProgress(title="Sending digests", audience=ADMINISTRATORS, routine=True)

    @workflow.query
    def get_progress(self) -> DigestProgress:
        return self._progress

    @workflow.run
    async def run(self, input: DigestWorkflowInput) -> DigestWorkflowResult:
        for _ in range(MOST_PAGES):
            page = await call(DigestActivities.send_due_digests, DigestPageInput(limit=input.page_size))
            done = self._progress
            changes: dict[str, object] = {"sent": done.sent + page.sent, "failed": done.failed + page.failed}
            if page.reason:
                # Then it is no routine any more: administrators see it.
                changes |= {"problem": page.reason, "routine": False}
            self._progress = done.model_copy(update=changes)
            report(self._progress)
            if page.claimed < input.page_size:
                break
        return DigestWorkflowResult(sent=self._progress.sent, failed=self._progress.failed)
