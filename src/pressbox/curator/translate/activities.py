"""The effects of translating: request by request, each kept as soon as it is answered."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import ConfigurationError, PermanentError, TransientError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.curator.library.contracts import EntryProgressState, heavy_queue
from pressbox.curator.library.domain.entries import EntryStatus
from pressbox.curator.models.ports import Claims
from pressbox.curator.models.waiting import LONGEST_REASON, UNAVAILABLE, retry_later
from pressbox.curator.text.plain_text import shorten
from pressbox.curator.translate.contracts import (
    Provider,
    SavedTranslations,
    SaveTranslationsInput,
    SelectForTranslationInput,
    TranslateArticlesInput,
    TranslatedArticles,
    TranslationSelection,
    translation_claim,
)
from pressbox.curator.translate.domain.article_blocks import Block, blocks_of
from pressbox.curator.translate.domain.segments import Done, Why, requests
from pressbox.curator.translate.ports import Languages, Translations, TranslationSource, Translator

# Longer than one article may take, so that a claim never lapses while its work goes on.
CLAIMED_FOR = timedelta(minutes=20)
TRANSLATED_ELSEWHERE = "Another run translates the same article."


class TranslationSelecting:
    """Which entries are translated, and which are then done."""

    def __init__(self, translations: Translations, now: Clock = utc_now) -> None:
        self._translations = translations
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def get_entries_for_translation(self, input: SelectForTranslationInput) -> TranslationSelection:
        found = await self._translations.select(input.entry_ids, input.language, input.after, input.limit)
        entries = (entry.model_copy(update={"title": shorten(entry.title)}) for entry in found.entries)
        return found.model_copy(update={"entries": tuple(entries)})

    @activity.defn
    @call_with(QUICK)
    async def save_translations(self, input: SaveTranslationsInput) -> SavedTranslations:
        """The bodies are there already; from now on they count as whole."""
        saved = await self._translations.finish(input.entry_ids, input.language, self._now())
        return SavedTranslations(entry_ids=tuple(saved))


class TranslationActivities:
    """One translator per provider; those without a key say which setting is missing."""

    def __init__(
        self,
        translations: Translations,
        claims: Claims,
        translators: Mapping[Provider, Translator],
        now: Clock = utc_now,
    ) -> None:
        self._translations = translations
        self._claims = claims
        self._translators = translators
        self._now = now

    @activity.defn
    @call_with(LONG, queue=heavy_queue)
    async def deepl_translate_articles(self, input: TranslateArticlesInput) -> TranslatedArticles:
        return await self._translate(Provider.DEEPL, input)

    @activity.defn
    @call_with(LONG, queue=heavy_queue)
    async def ms_translate_articles(self, input: TranslateArticlesInput) -> TranslatedArticles:
        return await self._translate(Provider.MICROSOFT, input)

    @activity.defn
    @call_with(LONG, queue=heavy_queue)
    async def llm_translate_articles(self, input: TranslateArticlesInput) -> TranslatedArticles:
        return await self._translate(Provider.LLM, input)

    async def _translate(self, provider: Provider, input: TranslateArticlesInput) -> TranslatedArticles:
        translated: list[int] = []
        failed: list[EntryProgressState] = []
        async with Heartbeat():
            for place, entry_id in enumerate(input.entry_ids):
                try:
                    await self._article(self._translators[provider], entry_id, input)
                    translated.append(entry_id)
                except UNAVAILABLE as error:
                    retry_at, reason = retry_later(error, input.policy, self._now())
                    return TranslatedArticles(
                        translated=tuple(translated),
                        failed=tuple(failed),
                        waiting=input.entry_ids[place:],
                        retry_at=retry_at,
                        reason=reason,
                    )
                except PermanentError as error:
                    # One article that cannot be translated holds up no other.
                    reason = shorten(error.message, LONGEST_REASON)
                    failed.append(EntryProgressState(entry_id=entry_id, status=EntryStatus.ERROR, error=reason))
        return TranslatedArticles(translated=tuple(translated), failed=tuple(failed))

    async def _article(self, translator: Translator, entry_id: int, input: TranslateArticlesInput) -> None:
        """What is missing of one article; an entry that is gone is done with."""
        key, owner, now = translation_claim(entry_id, input.language), activity.info().workflow_id or "", self._now()
        if not await self._claims.take([key], owner, now + CLAIMED_FOR, now):
            raise TransientError(TRANSLATED_ELSEWHERE)
        try:
            source = await self._translations.source(entry_id)
            if source is not None:
                await self._missing(translator, source, input)
        finally:
            await self._claims.release([key], owner)

    async def _missing(self, translator: Translator, source: TranslationSource, input: TranslateArticlesInput) -> None:
        known = await self._known(translator, source.entry_id, input)
        blocks = blocks_of(source.title, source.summary, source.html)
        wanted, too_long = requests([block for block in blocks if block.key not in known], translator.limits)

        async def keep(done: Sequence[Done]) -> None:
            provider, model = translator.provider, translator.model
            await self._translations.put(source, input.language, provider, model, done, self._now())

        # Also when nothing is missing: the text may be another one with the same words.
        await keep(too_long)
        for request in wanted:
            await keep(await _answered(translator, request, Languages(source.language, input.language), source))

    async def _known(self, translator: Translator, entry_id: int, input: TranslateArticlesInput) -> set[str]:
        """What is not asked for any more: what this translator has answered; `again` only what it translated."""
        stored = await self._translations.stored(entry_id, input.language)
        if stored is None or (stored.provider, stored.model) != (translator.provider, translator.model):
            return set()
        return {done.key for done in stored.blocks if done.why is None or not input.again}


async def _answered(
    translator: Translator, request: Sequence[Block], languages: Languages, source: TranslationSource
) -> Sequence[Done]:
    """What has no answer stays as it was, and says so."""
    try:
        answers = await translator.translate(request, languages, source)
    except ConfigurationError:
        raise
    except PermanentError as error:
        activity.logger.warning("Blocks of entry %s are not translated: %s", source.entry_id, error.message)
        return [Done(block.key, why=Why.REFUSED) for block in request]
    given = {answer.key: answer for answer in answers}
    return [given.get(block.key) or Done(block.key, why=Why.UNUSABLE) for block in request]
