"""Hand-written doubles of what translation needs: entries with bodies, a translator that can be away, in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from pressbox.core.errors import PressboxError
from pressbox.curator.distil.activities import SettingsActivities
from pressbox.curator.library.contracts import EntryProgressState
from pressbox.curator.library.domain import content_hash
from pressbox.curator.translate.activities import (
    LanguagePair,
    StoredTranslation,
    TranslationActivities,
    TranslationSource,
)
from pressbox.curator.translate.blocks import Block, find_blocks
from pressbox.curator.translate.contracts import Provider, TranslationCursor, TranslationSelection
from pressbox.curator.translate.domain import BlockTranslation, Limits, outgoing_text, read_answer
from pressbox.demo.simulators.translation_text import translate_text
from tests.fakes.curator import FakeWorld
from tests.fakes.spending import FakeClaims

BEGIN = datetime(2027, 3, 1, 12, tzinfo=UTC)
_numbers = count(1)
SMALL = Limits(texts=2, characters=1000, size=10_000, longest=500)


class FakeTranslations:
    """`sources` in the order of their age: the later, the newer."""

    def __init__(self) -> None:
        self.sources: dict[int, TranslationSource] = {}
        self.rows: dict[tuple[int, str], StoredTranslation] = {}
        self.additions = 0

    def enter(self, html: str = "<p>One line.</p><p>Another line.</p>", *, language: str = "en") -> int:
        number = next(_numbers)
        title = f"Article {number}"
        self.sources[number] = TranslationSource(number, 1, title, "", html, language, content_hash(html))
        return number

    def edit(self, entry_id: int, html: str) -> None:
        known = self.sources[entry_id]
        self.sources[entry_id] = replace(known, html=html, content_hash=content_hash(html))

    async def select(
        self, entry_ids: Sequence[int], language: str, after: TranslationCursor | None, limit: int
    ) -> TranslationSelection:
        waiting = [
            number
            for number in sorted(self.sources, reverse=True)
            if (number in entry_ids if entry_ids else self._wants(number, language))
            and (after is None or number < after.entry_id)
        ]
        page = waiting[:limit]
        return TranslationSelection(
            entries=tuple(EntryProgressState(entry_id=one, title=self.sources[one].title) for one in page),
            after=TranslationCursor(published_at=BEGIN + timedelta(hours=page[-1]), entry_id=page[-1])
            if page
            else None,
            more=len(waiting) > limit,
        )

    def _wants(self, entry_id: int, language: str) -> bool:
        source, row = self.sources[entry_id], self.rows.get((entry_id, language))
        whole = row is not None and row.complete and row.content_hash == source.content_hash
        return source.language != language and not whole

    async def find_source(self, entry_id: int) -> TranslationSource | None:
        return self.sources.get(entry_id)

    async def find(self, entry_id: int, language: str) -> StoredTranslation | None:
        return self.rows.get((entry_id, language))

    async def add(
        self,
        source: TranslationSource,
        language: str,
        provider: str,
        model: str,
        done: Sequence[BlockTranslation],
        now: datetime,
    ) -> None:
        self.additions += 1
        key = (source.entry_id, language)
        row = self.rows.get(key)
        known = {one.key: one for one in row.blocks} if row and (row.provider, row.model) == (provider, model) else {}
        known |= {one.key: one for one in done}
        wanted = {block.key for block in find_blocks(source.title, source.summary, source.html)}
        self.rows[key] = StoredTranslation(
            *key, provider, model, source.content_hash, "", [known[one] for one in known if one in wanted], False, now
        )

    async def finish(self, entry_ids: Sequence[int], language: str, now: datetime) -> Sequence[int]:
        saved = []
        for entry_id in entry_ids:
            row, source = self.rows.get((entry_id, language)), self.sources.get(entry_id)
            if row and source and row.content_hash == source.content_hash:
                self.rows[entry_id, language] = replace(row, complete=True)
                saved.append(entry_id)
        return saved


@dataclass
class FakeTranslator:
    """Answers as the simulators do. `troubles` are raised by the next calls, one each; None lets one through."""

    provider: str = Provider.DEEPL
    model: str = ""
    limits: Limits = SMALL
    troubles: list[PressboxError | None] = field(default_factory=list)
    asked: list[list[str]] = field(default_factory=list)
    answer: Callable[[str, str], str] = translate_text
    before: Callable[[], None] | None = None

    async def translate(
        self, blocks: Sequence[Block], languages: LanguagePair, source: TranslationSource
    ) -> Sequence[BlockTranslation]:
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble is not None:
            raise trouble
        if self.before is not None:
            self.before()
        self.asked.append([block.html for block in blocks])
        return [read_answer(block, self.answer(outgoing_text(block), languages.target)) for block in blocks]


class TranslationDesk:
    """Entries, a translator of each kind, and the activities on them."""

    def __init__(self) -> None:
        self.translations = FakeTranslations()
        self.claims = FakeClaims()
        self.translators = {one: FakeTranslator(one) for one in Provider}
        self.world = FakeWorld()

    @property
    def deepl(self) -> FakeTranslator:
        return self.translators[Provider.DEEPL]

    def activities(self) -> TranslationActivities:
        return TranslationActivities(self.translations, self.claims, self.translators)

    def plain_activities(self) -> list[Callable[..., Any]]:
        mine = self.activities()
        settings = [one for one in self.world.plain_activities() if one.__name__ == _SETTINGS]
        return [*settings, mine.get_entries_for_translation, mine.save_translations]

    def heavy_activities(self) -> list[Callable[..., Any]]:
        mine = self.activities()
        return [mine.deepl_translate_articles, mine.ms_translate_articles, mine.llm_translate_articles]


_SETTINGS = SettingsActivities.get_app_settings.__name__
