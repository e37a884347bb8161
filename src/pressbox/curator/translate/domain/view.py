"""A translation as its reader sees it, beside the article as it is now. Pure."""

import html as html_module
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Annotated

from pydantic import Field

from pressbox.curator.translate.domain.blocks import (
    Block,
    BlockKind,
    Pair,
    find_blocks,
    pair_up,
    plain_words,
    text_block,
)
from pressbox.curator.translate.domain.segments import BlockTranslation, UntranslatedReason

# The languages on offer: all providers know them.
_CODES = "ar bg cs da de el en es et fi fr he hu id it ja ko lt lv nb nl pl pt ro ru sk sl sv tr uk vi zh"
LANGUAGES = tuple(_CODES.split())
RIGHT_TO_LEFT = frozenset({"ar", "he", "fa", "ur"})


class TranslationStatus(StrEnum):
    NONE = "none"
    PARTIAL = "partial"
    COMPLETE = "complete"
    STALE = "stale"  # the text has changed since


@dataclass(frozen=True)
class TranslationView:
    """`missing` counts blocks that are not requested yet, `kept` those that were requested and not translated."""

    language: str
    state: TranslationStatus
    title: str
    summary: str
    html: str
    translations: Mapping[str, BlockTranslation]
    provider: str = ""
    model: str = ""
    at: datetime | None = None

    @cached_property
    def blocks(self) -> Sequence[Block]:
        return find_blocks(self.title, self.summary, self.html)

    @property
    def kept(self) -> int:
        return sum(one.reason is not None for one in map(self._find, self.blocks) if one)

    @property
    def missing(self) -> int:
        return sum(self._find(block) is None for block in self.blocks)

    @property
    def total(self) -> int:
        return len(self.blocks)

    @property
    def translated_title(self) -> str:
        return self._text(BlockKind.TITLE, self.title)

    @property
    def translated_summary(self) -> str:
        return self._text(BlockKind.SUMMARY, self.summary)

    @property
    def direction(self) -> str:
        return "rtl" if self.language in RIGHT_TO_LEFT else "ltr"

    def pairs(self, reasons: Mapping[str, str], *, with_original: bool = True) -> Sequence[Pair]:
        """Return the parts of the article in pairs; `reasons` has the words that mark what was not translated."""
        translations = {block.key: self._show(block, reasons) for block in self.blocks}
        return pair_up(self.html, translations, with_original=with_original)

    def translated_html(self) -> str:
        """Return the article in the other language; what was not translated stays in its own."""
        return "".join(pair.translation for pair in self.pairs({}, with_original=False))

    def _show(self, block: Block, reasons: Mapping[str, str]) -> str:
        found = self._find(block)
        if found is not None and found.reason is None:
            return found.html
        why = html_module.escape(reasons.get(found.reason if found and found.reason else "missing", ""), quote=True)
        return f'<span class="untranslated" data-why="{why}">{block.html}</span>'

    def _find(self, block: Block) -> BlockTranslation | None:
        return self.translations.get(block.key)

    def _text(self, kind: BlockKind, text: str) -> str:
        """Return plain text in the other language, or as it is without a translation."""
        found = next((self._find(block) for block in text_block(kind, text)), None)
        return plain_words(found.html) if found is not None and found.reason is None else text


@dataclass(frozen=True)
class BlockView:
    kind: BlockKind
    original: Annotated[str, Field(description="HTML of the article.")]
    translation: Annotated[str, Field(description="The same in the other language; empty when it was not translated.")]
    why: Annotated[UntranslatedReason | None, Field(description="Why it was not translated.")]


def view_blocks(view: TranslationView) -> Sequence[BlockView]:
    found = [(block, view.translations.get(block.key)) for block in view.blocks]
    return [
        BlockView(block.kind, block.html, one.html if one else "", one.reason if one else None) for block, one in found
    ]
