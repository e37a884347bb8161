"""SendNoticesWorkflow: what people are told, by the ways they chose."""

import asyncio

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call
    from pressbox.delivery.activities.notices import NoticeActivities
    from pressbox.delivery.contracts import (
        SendNoticesInput,
        SendNoticesProgress,
        SendNoticesResult,
        SendPageInput,
    )


@workflow.defn
class SendNoticesWorkflow:
    """Sends the notices that are due by mail, chat and push, page by page.

    Id `delivery-notices`; started by whichever worker sees in the database that something waits. Ends when nothing is
    due; what is due later (a retry, a delay that somebody chose) starts it again. The ledger makes a repeated page send
    only what is unsent.
    """

    @workflow.init
    def __init__(self, input: SendNoticesInput) -> None:
        self._page = SendPageInput(at_once=input.at_once, page=input.page)
        self._progress = SendNoticesProgress(
            title="Telling people what happened", audience=ADMINISTRATORS, routine=True, sent=input.sent
        )

    @workflow.query
    def get_progress(self) -> SendNoticesProgress:
        return self._progress

    @workflow.run
    async def run(self, input: SendNoticesInput) -> SendNoticesResult:
        waiting = await self._send_page()
        while waiting:
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(input.model_copy(update={"sent": self._progress.sent}))
            # As many pages side by side as there is work for: whichever worker is free takes one.
            shards = min(input.shards, -(-waiting // input.page))
            waiting = max(await asyncio.gather(*(self._send_page() for _ in range(shards))))
        return SendNoticesResult(sent=self._progress.sent)

    async def _send_page(self) -> int:
        """Returns how many are left that are due."""
        result = await call(NoticeActivities.send_notices, self._page)
        self._progress = self._progress.model_copy(update={"sent": self._progress.sent + result.sent})
        report(self._progress)
        return result.waiting
