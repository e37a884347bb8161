"""TranslationWorkflow: translates entries by DeepL, Microsoft or the model."""

from collections.abc import Sequence

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, call_locally
    from pressbox.curator.distil.activities import SettingsActivities
    from pressbox.curator.library.audiences import readers_of_entries
    from pressbox.curator.library.contracts import EntryProgressState
    from pressbox.curator.library.domain import EntryStatus
    from pressbox.curator.library.progress import EntryStates, ProgressReporter
    from pressbox.curator.models.waiting import WAITING, sleep_until
    from pressbox.curator.translate.activities import TranslationActivities
    from pressbox.curator.translate.contracts import (
        Provider,
        SaveTranslationsInput,
        SelectForTranslationInput,
        TranslateArticlesInput,
        TranslatedArticles,
        TranslationInput,
        TranslationOutput,
        TranslationProgress,
        TranslationSelection,
        TranslationState,
    )

# A page of entries with their titles is one message, which stays below 10 kB.
PAGE = 40
BATCH = 5
DEFAULT_LANGUAGE = "en"
TRANSLATE = {
    Provider.DEEPL: TranslationActivities.deepl_translate_articles,
    Provider.MICROSOFT: TranslationActivities.ms_translate_articles,
    Provider.LLM: TranslationActivities.llm_translate_articles,
}


@workflow.defn
class TranslationWorkflow:
    """Translates entries block by block; without ids the newest in another language that have no translation.

    Id `translate-…` for chosen entries, `curator-translate-leftovers` for what is left; both are started by hand. While
    the provider is down, busy, over quota or refuses its key, the workflow waits, says so, and continues by itself.
    Answers are stored at once: a retry requests only what is missing. Continues as new after a page of entries.
    """

    @workflow.init
    def __init__(self, input: TranslationInput) -> None:
        self._input = input
        self._state = input.state
        self._language = input.target_language
        self._articles = EntryStates()
        first = TranslationProgress(
            title="Translations", audience=readers_of_entries(input.entry_ids), provider=input.provider
        )
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> TranslationProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: TranslationInput) -> TranslationOutput:
        if not self._language:
            settings = await call_locally(SettingsActivities.get_app_settings)
            self._language = settings.target_language or DEFAULT_LANGUAGE
        page = await self._select()
        self._state = self._add(total=len(page.entries))
        for entry in page.entries:
            self._articles.put(entry.entry_id, EntryStatus.PENDING, entry.title)
        if len(page.entries) == 1 and len(input.entry_ids) == 1:
            self._progress.update(title=f"Translation: {page.entries[0].title}")
        self._show(current_step="translate")
        for begin in range(0, len(page.entries), BATCH):
            await self._translate_batch(page.entries[begin : begin + BATCH])
        if page.more and self._state.total < input.most_entries:
            self._continue(self._state.model_copy(update={"after": page.after}))
        self._progress.complete(message=f"{self._state.translated} translated")
        return TranslationOutput(translated=self._state.translated, failed=self._state.failed)

    async def _select(self) -> TranslationSelection:
        wanted = SelectForTranslationInput(
            entry_ids=self._input.entry_ids,
            language=self._language,
            after=self._state.after,
            limit=min(PAGE, self._input.most_entries - self._state.total),
        )
        return await call(TranslationActivities.get_entries_for_translation, wanted)

    async def _translate_batch(self, entries: Sequence[EntryProgressState]) -> None:
        """Translate one batch, and wait as long as the provider is unavailable."""
        left = tuple(entry.entry_id for entry in entries)
        while left:
            for entry_id in left:
                self._articles.put(entry_id, EntryStatus.TRANSLATING)
            self._show(current_step="translate", message="")
            input = self._input
            wanted = TranslateArticlesInput(
                entry_ids=left, language=self._language, again=input.again, policy=input.policy
            )
            batch = await call(TRANSLATE[input.provider], wanted)
            await self._save(batch)
            if batch.retry_at is None:
                return
            left = batch.waiting
            self._show(current_step=WAITING, message=batch.reason)
            await sleep_until(batch.retry_at)
            if workflow.info().is_continue_as_new_suggested():
                # After days of waiting: what is still missing is selected again.
                self._continue(self._input.state)

    async def _save(self, batch: TranslatedArticles) -> None:
        for entry in batch.failed:
            self._articles.put(entry.entry_id, EntryStatus.ERROR, error=entry.error)
        saved: tuple[int, ...] = ()
        if batch.translated:
            done = SaveTranslationsInput(entry_ids=batch.translated, language=self._language)
            saved = (await call(TranslationActivities.save_translations, done)).entry_ids
        for entry_id in batch.translated:
            self._articles.put(entry_id, EntryStatus.COMPLETED)
        self._state = self._add(translated=len(saved), failed=len(batch.failed))
        self._show()

    def _continue(self, state: TranslationState) -> None:
        changes = {"state": state, "target_language": self._language}
        workflow.continue_as_new(self._input.model_copy(update=changes))

    def _add(self, **changes: int) -> TranslationState:
        known = self._state
        return known.model_copy(update={name: getattr(known, name) + change for name, change in changes.items()})

    def _show(self, **changes: object) -> None:
        state = self._state
        self._progress.update(
            done=state.translated + state.failed,
            total=state.total,
            total_entries=state.total,
            entries_translated=state.translated,
            entry_progress=self._articles.copy(),
            **changes,
        )
