"""ExtractEntryContextWorkflow: what one entry is about."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.errors import NotFoundError
    from pressbox.core.temporal.calls import call
    from pressbox.curator.context.activities import ContextActivities
    from pressbox.curator.context.contracts import (
        EntryReference,
        ExtractContextInput,
        ExtractedContext,
        ExtractEntryContextInput,
        ExtractEntryContextOutput,
        ExtractEntryContextProgress,
        SaveContextInput,
        SavedContext,
    )
    from pressbox.curator.library.audiences import readers_of_entry
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.models.waiting import call_until_available

NO_TEXT = "This entry is gone, or has no text."
MORE_TRIES = 2
ANOTHER_TEXT = "The article has another text by now. Try it again."


@workflow.defn
class ExtractEntryContextWorkflow:
    """Finds entities, relations, key points and links in the whole text of an entry, and keeps them with it.

    Id `context-…`; a child of ContextCollectionWorkflow, or started by hand. A text whose context is known is left as
    it is, unless `again` is wanted. While no model answers it waits, visibly.
    """

    @workflow.init
    def __init__(self, input: ExtractEntryContextInput) -> None:
        first = ExtractEntryContextProgress(
            title="Context of an article", audience=readers_of_entry(input.entry_id), entry_id=input.entry_id
        )
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> ExtractEntryContextProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: ExtractEntryContextInput) -> ExtractEntryContextOutput:
        facts = await call(ContextActivities.get_entry, EntryReference(entry_id=input.entry_id))
        if not facts.found:
            raise NotFoundError(NO_TEXT)
        if facts.known and not input.again:
            self._progress.complete()
            return ExtractEntryContextOutput(entry_id=input.entry_id, extracted=True, software=facts.software)
        self._progress.update(title=facts.title or self._progress.current.title, current_step="extract")
        found, saved = await self._found(input)
        for _ in range(MORE_TRIES):
            if saved.saved:
                break
            # Edited meanwhile: what counts is what it says now.
            found, saved = await self._found(input)
        self._progress.complete(message="" if saved.saved else ANOTHER_TEXT)
        return ExtractEntryContextOutput(
            entry_id=input.entry_id,
            extracted=saved.saved,
            entities=found.entities,
            software=saved.software,
            reason="" if saved.saved else ANOTHER_TEXT,
        )

    async def _found(self, input: ExtractEntryContextInput) -> tuple[ExtractedContext, SavedContext]:
        wanted = ExtractContextInput(entry_id=input.entry_id, policy=input.policy)
        found = await call_until_available(ContextActivities.extract_entry_context, wanted, self._progress.update)
        if not found.key:
            raise NotFoundError(NO_TEXT)
        self._progress.update(current_step="save", message="")
        return found, await call(
            ContextActivities.save_entry_context, SaveContextInput(entry_id=input.entry_id, key=found.key)
        )
