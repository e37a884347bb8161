"""The effects of translation, and what they need: one request after the other, each answer stored at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import AnswerLostError, ConfigurationError, PermanentError, TransientError
from pressbox.core.spending.ports import Claims
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.curator.library.contracts import EntryProgressState, heavy_queue
from pressbox.curator.library.domain import EntryStatus
from pressbox.curator.models.waiting import LONGEST_REASON, UNAVAILABLE, retry_later
from pressbox.curator.text.plain_text import shorten
from pressbox.curator.translate.blocks import Block, find_blocks
from pressbox.curator.translate.contracts import (
    Provider,
    SavedTranslations,
    SaveTranslationsInput,
    SelectForTranslationInput,
    TranslateArticlesInput,
    TranslatedArticles,
    TranslationCursor,
    TranslationSelection,
    translation_claim,
)
from pressbox.curator.translate.domain import BlockTranslation, Limits, UntranslatedReason, plan_requests


@dataclass(frozen=True)
class LanguagePair:
    """`source` is empty when it is not known; the provider then detects it."""

    source: str
    target: str


@dataclass(frozen=True)
class TranslationSource:
    """An entry as its reader sees it."""

    entry_id: int
    feed_id: int
    title: str
    summary: str
    html: str
    language: str
    content_hash: str


@dataclass(frozen=True)
class StoredTranslation:
    """`complete` when every block of the text is translated, or has a reason why not."""

    entry_id: int
    language: str
    provider: str
    model: str
    content_hash: str
    title: str
    blocks: Sequence[BlockTranslation]
    complete: bool
    at: datetime


class Translator(Protocol):
    """Translates one request of blocks at a time, within `limits`, and is never paid twice for the same one.

    When it is down, busy, over quota or has a wrong key, it raises one of `models.waiting.UNAVAILABLE`. A block without
    an answer is not in the result.
    """

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def limits(self) -> Limits: ...

    async def translate(
        self, blocks: Sequence[Block], languages: LanguagePair, source: TranslationSource
    ) -> Sequence[BlockTranslation]: ...


class Translations(Protocol):
    async def select(
        self, entry_ids: Sequence[int], language: str, after: TranslationCursor | None, limit: int
    ) -> TranslationSelection:
        """Select these entries; without ids, those of subscribed feeds in another language that have no complete
        translation of their present text, the newest first.
        """
        ...

    async def find_source(self, entry_id: int) -> TranslationSource | None:
        """Return None when the entry is gone or has no text."""
        ...

    async def find(self, entry_id: int, language: str) -> StoredTranslation | None: ...

    async def add(
        self,
        source: TranslationSource,
        language: str,
        provider: str,
        model: str,
        blocks: Sequence[BlockTranslation],
        now: datetime,
    ) -> None:
        """Add blocks to the translation by the same provider; another provider starts a new one."""
        ...

    async def finish(self, entry_ids: Sequence[int], language: str, now: datetime) -> Sequence[int]:
        """Mark translations of the present text as complete, and return their entry ids."""
        ...


class TranslationWorkflows(Protocol):
    """Starts TranslationWorkflow and returns its id, or that of the run that does the same already."""

    async def start_translation(
        self, entry_ids: Sequence[int], provider: Provider, language: str, *, again: bool = False
    ) -> str: ...


# Longer than one article may take, so that a claim never lapses while its work goes on.
CLAIM_LIFETIME = timedelta(minutes=20)
TRANSLATED_ELSEWHERE = "Another run is translating the same article."


class TranslationActivities:
    """There is a translator for each provider; one without a key says which setting is missing."""

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
    @call_with(QUICK)
    async def get_entries_for_translation(self, input: SelectForTranslationInput) -> TranslationSelection:
        found = await self._translations.select(input.entry_ids, input.language, input.after, input.limit)
        entries = (entry.model_copy(update={"title": shorten(entry.title)}) for entry in found.entries)
        return found.model_copy(update={"entries": tuple(entries)})

    @activity.defn
    @call_with(QUICK)
    async def save_translations(self, input: SaveTranslationsInput) -> SavedTranslations:
        """Mark translations as complete; their blocks are stored already."""
        saved = await self._translations.finish(input.entry_ids, input.language, self._now())
        return SavedTranslations(entry_ids=tuple(saved))

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
        """An article that fails, or whose answer was lost, holds up no others; a provider that is away does."""
        translated: list[int] = []
        failed: list[EntryProgressState] = []
        lost: list[int] = []
        pauses: list[tuple[datetime, str]] = []
        async with Heartbeat():
            for place, entry_id in enumerate(input.entry_ids):
                try:
                    await self._translate_entry(self._translators[provider], entry_id, input)
                    translated.append(entry_id)
                except AnswerLostError as error:
                    lost.append(entry_id)
                    pauses.append(retry_later(error, input.policy, self._now()))
                except UNAVAILABLE as error:
                    lost += input.entry_ids[place:]
                    pauses.append(retry_later(error, input.policy, self._now()))
                    break
                except PermanentError as error:
                    reason = shorten(error.message, LONGEST_REASON)
                    failed.append(EntryProgressState(entry_id=entry_id, status=EntryStatus.ERROR, error=reason))
        retry_at, reason = max(pauses, default=(None, ""))
        return TranslatedArticles(
            translated=tuple(translated), failed=tuple(failed), waiting=tuple(lost), retry_at=retry_at, reason=reason
        )

    async def _translate_entry(self, translator: Translator, entry_id: int, input: TranslateArticlesInput) -> None:
        """Translate what is missing of one entry; one that is gone needs nothing."""
        key, owner, now = translation_claim(entry_id, input.language), activity.info().workflow_id or "", self._now()
        if not await self._claims.take([key], owner, now + CLAIM_LIFETIME, now):
            raise TransientError(TRANSLATED_ELSEWHERE)
        try:
            source = await self._translations.find_source(entry_id)
            if source is not None:
                await self._translate_missing(translator, source, input)
        finally:
            await self._claims.release([key], owner)

    async def _translate_missing(
        self, translator: Translator, source: TranslationSource, input: TranslateArticlesInput
    ) -> None:
        finished = await self._find_finished(translator, source.entry_id, input)
        blocks = find_blocks(source.title, source.summary, source.html)
        planned, too_long = plan_requests([block for block in blocks if block.key not in finished], translator.limits)

        async def store(done: Sequence[BlockTranslation]) -> None:
            provider, model = translator.provider, translator.model
            await self._translations.add(source, input.language, provider, model, done, self._now())

        # Even when nothing is missing: the same blocks may be in a text that has changed otherwise.
        await store(too_long)
        languages = LanguagePair(source.language, input.language)
        for request in planned:
            await store(await _translate_blocks(translator, request, languages, source))

    async def _find_finished(self, translator: Translator, entry_id: int, input: TranslateArticlesInput) -> set[str]:
        """Return the blocks that this translator has answered; with `again`, only those that it translated."""
        stored = await self._translations.find(entry_id, input.language)
        if stored is None or (stored.provider, stored.model) != (translator.provider, translator.model):
            return set()
        return {block.key for block in stored.blocks if block.reason is None or not input.again}


async def _translate_blocks(
    translator: Translator, blocks: Sequence[Block], languages: LanguagePair, source: TranslationSource
) -> Sequence[BlockTranslation]:
    """Translate blocks; one without an answer gets the reason why."""
    try:
        answers = await translator.translate(blocks, languages, source)
    except ConfigurationError:
        raise
    except PermanentError as error:
        activity.logger.warning("Blocks of entry %s are not translated: %s", source.entry_id, error.message)
        return [BlockTranslation(block.key, reason=UntranslatedReason.REFUSED) for block in blocks]
    by_key = {answer.key: answer for answer in answers}
    missing = UntranslatedReason.UNUSABLE
    return [by_key.get(block.key) or BlockTranslation(block.key, reason=missing) for block in blocks]
