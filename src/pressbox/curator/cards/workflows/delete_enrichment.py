"""DeleteEnrichmentWorkflow: a card that somebody does not want any more."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call
    from pressbox.curator.cards.link_activities import LinkedPageActivities
    from pressbox.curator.context.contracts import (
        DeleteEnrichmentInput,
        DeleteEnrichmentOutput,
        DeleteEnrichmentProgress,
        DeleteInput,
    )
    from pressbox.curator.library.progress import Shown


@workflow.defn
class DeleteEnrichmentWorkflow:
    """Deletes one card with its text. Pages hide it from the moment somebody asked.

    Id `delete-enrichment-…`; started by a reader. One that is gone already is deleted too: nothing is left to do.
    """

    @workflow.init
    def __init__(self, input: DeleteEnrichmentInput) -> None:
        first = DeleteEnrichmentProgress(title="A card goes", enrichment_id=input.enrichment_id)
        self._shown = Shown(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> DeleteEnrichmentProgress:
        return self._shown.now

    @workflow.run
    async def run(self, input: DeleteEnrichmentInput) -> DeleteEnrichmentOutput:
        wanted = DeleteInput(enrichment_id=input.enrichment_id)
        done = await call(LinkedPageActivities.delete_enrichment, wanted)
        self._shown.done()
        return DeleteEnrichmentOutput(deleted=done.deleted)
