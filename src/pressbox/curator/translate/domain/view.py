"""A translation as its reader sees it: side by side with the article as it is now. Pure."""

import html as html_module
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from pressbox.curator.translate.domain.article_blocks import (
    Block,
    BlockKind,
    Pair,
    blocks_of,
    pairs,
    text_block,
    words_of,
)
from pressbox.curator.translate.domain.segments import Done, Why

# The languages that people are offered: all providers know these.
_CODES = "ar bg cs da de el en es et fi fr he hu id it ja ko lt lv nb nl pl pt ro ru sk sl sv tr uk vi zh"
LANGUAGES = tuple(_CODES.split())
RIGHT_TO_LEFT = frozenset({"ar", "he", "fa", "ur"})


class Standing(StrEnum):
    NONE = "none"
    PARTIAL = "partial"  # begun, and not at its end
    COMPLETE = "complete"
    STALE = "stale"  # of a text that has changed since


@dataclass(frozen=True)
class TranslationView:
    """`missing` blocks were not asked for yet, `kept` ones were and stay as they are."""

    language: str
    state: Standing
    title: str
    summary: str
    html: str
    done: Mapping[str, Done]
    provider: str = ""
    model: str = ""
    at: datetime | None = None

    @cached_property
    def blocks(self) -> Sequence[Block]:
        return blocks_of(self.title, self.summary, self.html)

    @property
    def kept(self) -> int:
        return sum(one.why is not None for one in map(self._of, self.blocks) if one)

    @property
    def missing(self) -> int:
        return sum(self._of(block) is None for block in self.blocks)

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
        """Piece by piece; what was not translated is marked, with the words of `reasons` for why."""
        shown = {block.key: self._shown(block, reasons) for block in self.blocks}
        return pairs(self.html, shown, with_original=with_original)

    def translated_html(self) -> str:
        """The article in the other language, with what was not translated as it is."""
        return "".join(pair.translation for pair in self.pairs({}, with_original=False))

    def _shown(self, block: Block, reasons: Mapping[str, str]) -> str:
        done = self._of(block)
        if done is not None and done.why is None:
            return done.html
        why = html_module.escape(reasons.get(done.why if done and done.why else "missing", ""), quote=True)
        return f'<span class="untranslated" data-why="{why}">{block.html}</span>'

    def _of(self, block: Block) -> Done | None:
        return self.done.get(block.key)

    def _text(self, kind: BlockKind, text: str) -> str:
        """Plain text in the other language; as it is when there is none."""
        done = [self.done.get(block.key) for block in text_block(kind, text)]
        return words_of(done[0].html) if done and done[0] and done[0].why is None else text


@dataclass(frozen=True)
class BlockView:
    """One block for programs."""

    kind: BlockKind
    original: str
    translation: str
    why: Why | None


def block_views(view: TranslationView) -> Sequence[BlockView]:
    found = [(block, view.done.get(block.key)) for block in view.blocks]
    return [
        BlockView(block.kind, block.html, one.html if one else "", one.why if one else None) for block, one in found
    ]
