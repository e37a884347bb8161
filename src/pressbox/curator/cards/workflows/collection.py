"""ContextCollectionWorkflow: what entries are about, with cards of the software that they name."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError, WorkflowAlreadyStartedError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, call_best_effort, failure_reason
    from pressbox.curator.cards.activities import RepositoryActivities
    from pressbox.curator.cards.contracts import (
        CollectionState,
        ContextCollectionInput,
        ContextCollectionOutput,
        ContextCollectionProgress,
        FetchReadmeInput,
        RerankGithubInput,
        SaveGithubInput,
        SearchGithubInput,
    )
    from pressbox.curator.context.activities import ContextActivities
    from pressbox.curator.context.contracts import (
        EntryReference,
        ExtractEntryContextInput,
        ExtractEntryContextOutput,
        context_workflow_id,
    )
    from pressbox.curator.context.workflow import ExtractEntryContextWorkflow
    from pressbox.curator.library.audiences import readers_of_entries
    from pressbox.curator.library.domain import EntryStatus
    from pressbox.curator.library.progress import EntryStates, ProgressReporter
    from pressbox.curator.models.waiting import call_until_available
    from pressbox.curator.text.plain_text import shorten

AT_ONCE = 3
# One run of the workflow; the next page is the next run.
PAGE = 30
LONGEST_REASON = 200
RUNS_ALREADY = "It is being worked on already."


@workflow.defn
class ContextCollectionWorkflow:
    """Extracts the context of entries, some at a time, then looks for their software on GitHub and saves their links.

    Id `collect-context-…`; started by a reader or by hand. An entry that cannot be done is shown with its reason and
    holds up none of the others. GitHub's limits and models that are away are waited for, visibly.
    """

    @workflow.init
    def __init__(self, input: ContextCollectionInput) -> None:
        self._input = input
        self._state = input.state
        self._articles = EntryStates()
        first = ContextCollectionProgress(
            title="Context of articles",
            audience=readers_of_entries(input.entry_ids),
            total=len(input.entry_ids),
            total_entries=len(input.entry_ids),
        )
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> ContextCollectionProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: ContextCollectionInput) -> ContextCollectionOutput:
        page = input.entry_ids[self._state.done : self._state.done + PAGE]
        for entry_id in page:
            self._articles.put(entry_id, EntryStatus.PENDING)
        self._show(current_step="extract")
        turns = asyncio.Semaphore(AT_ONCE)
        found = await asyncio.gather(*(self._extract(entry_id, turns) for entry_id in page))
        # Afterwards, and one after the other: the limits of GitHub hold up no context.
        for output in found:
            if output is not None:
                await self._enrich(output)
        if self._state.done < len(input.entry_ids):
            workflow.continue_as_new(input.model_copy(update={"state": self._state}))
        state = self._state
        self._progress.complete(message=f"{state.extracted} done, {state.enriched} cards, {state.failed} failed")
        return ContextCollectionOutput(
            extracted=state.extracted, failed=state.failed, candidates=state.candidates, enriched=state.enriched
        )

    async def _extract(self, entry_id: int, turns: asyncio.Semaphore) -> ExtractEntryContextOutput | None:
        own_id = workflow.info().workflow_id
        wanted = ExtractEntryContextInput(
            entry_id=entry_id, again=self._input.again, parent_workflow_id=own_id, policy=self._input.policy
        )
        async with turns:
            self._articles.put(entry_id, EntryStatus.DISTILLING)
            self._show()
            try:
                found = await workflow.execute_child_workflow(
                    ExtractEntryContextWorkflow.run, wanted, id=context_workflow_id(entry_id)
                )
            except WorkflowAlreadyStartedError:
                self._failed(entry_id, RUNS_ALREADY)
                return None
            except ChildWorkflowError as error:
                if is_cancelled_exception(error):
                    raise
                self._failed(entry_id, failure_reason(error))
                return None
        if not found.extracted:
            self._failed(entry_id, found.reason)
            return None
        self._count(extracted=1, candidates=len(found.software))
        return found

    async def _enrich(self, found: ExtractEntryContextOutput) -> None:
        """Cards are an extra: the entry is done without them, and says so."""
        problem = ""
        for name in found.software:
            try:
                self._count(enriched=await self._card(found.entry_id, name))
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                problem = shorten(f"{name}: {failure_reason(error)}", LONGEST_REASON)
        self._show(current_step="links", message="")
        # The context brought the links with it; this finds those of HTML that changed while its text did not.
        await call_best_effort(ContextActivities.save_entry_links, EntryReference(entry_id=found.entry_id))
        self._articles.put(found.entry_id, EntryStatus.COMPLETED, error=problem)
        self._count(done=1)

    async def _card(self, entry_id: int, name: str) -> int:
        """1 when there is a card for this name. None of the repositories may be the one; then there is none."""
        policy, show = self._input.policy, self._show
        show(current_step="github", message="")
        search = SearchGithubInput(entry_id=entry_id, name=name, policy=policy)
        found = await call_until_available(RepositoryActivities.search_github_candidates, search, show)
        if not found.candidates:
            return 0
        rerank = RerankGithubInput(entry_id=entry_id, name=name, candidates=found.candidates, policy=policy)
        choice = await call_until_available(RepositoryActivities.rerank_github_results, rerank, show)
        if choice.chosen is None:
            return 0
        fetch = FetchReadmeInput(repository=choice.chosen, policy=policy)
        readme = await call_until_available(RepositoryActivities.fetch_github_readme, fetch, show)
        save = SaveGithubInput(
            entry_id=entry_id, name=name, repository=choice.chosen, readme_key=readme.key, by=choice.by
        )
        saved = await call(RepositoryActivities.save_github_enrichment, save)
        return int(saved.enrichment_id is not None)

    def _failed(self, entry_id: int, reason: str) -> None:
        self._articles.put(entry_id, EntryStatus.ERROR, error=shorten(reason, LONGEST_REASON))
        self._count(done=1, failed=1)

    def _count(self, **changes: int) -> None:
        known: CollectionState = self._state
        self._state = known.model_copy(update={name: getattr(known, name) + by for name, by in changes.items()})
        self._show()

    def _show(self, **changes: object) -> None:
        self._progress.update(
            done=self._state.done,
            successful_extractions=self._state.extracted,
            enrichment_candidates_count=self._state.candidates,
            entry_progress=self._articles.copy(),
            **changes,
        )
