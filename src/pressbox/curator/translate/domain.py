"""What is sent to a translator for a block, what counts as its translation, and what its reader sees of it. Pure.

Inside a block the markup is sent as numbered marks without addresses, and code as text that must not be translated. An
answer counts only if each mark comes back once and in its place; text of an answer is never markup.
"""

import html as html_module
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Annotated

from pydantic import Field

from pressbox.curator.translate.blocks import (
    PROTECTED,
    Block,
    BlockKind,
    Pair,
    Token,
    find_blocks,
    pair_up,
    plain_words,
    text_block,
    tokenize,
)


class UntranslatedReason(StrEnum):
    """Why a block was not translated."""

    MARKUP = "markup"  # the answer lost, repeated or moved markup
    EMPTY = "empty"
    UNCHANGED = "unchanged"
    LONG = "long"  # longer than the provider accepts
    REFUSED = "refused"  # the provider does not translate it
    UNUSABLE = "unusable"  # the answer was not a translation


_MARK_ID = re.compile(r"""\bid\s*+=\s*+["']?m?(\d{1,5})\b""")
_TAG_LIKE = re.compile(r"<[a-zA-Z/!?]")
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class BlockTranslation:
    """The translation of a block, or the reason why there is none."""

    key: str
    html: str = ""
    reason: UntranslatedReason | None = None


@dataclass(frozen=True)
class Limits:
    """What a provider accepts in one request. A block longer than `longest` is not sent; one that is longer than
    `characters`, where that is less, is sent alone.
    """

    texts: int
    characters: int
    size: int
    longest: int


def outgoing_text(block: Block) -> str:
    """Return the text that a provider gets for a block."""
    return "".join(part.outgoing for part in _replace_markup(block.html))


def plan_requests(
    blocks: Sequence[Block], limits: Limits
) -> tuple[Sequence[Sequence[Block]], Sequence[BlockTranslation]]:
    """Return as few requests as the limits allow, in the order of the article, and the blocks that are too long."""
    planned: list[list[Block]] = []
    too_long: list[BlockTranslation] = []
    characters = size = 0
    for block in blocks:
        text = outgoing_text(block)
        length, weight = len(text), _json_size(text)
        if length > limits.longest or weight > limits.size:
            too_long.append(BlockTranslation(block.key, reason=UntranslatedReason.LONG))
            continue
        full = planned and len(planned[-1]) >= limits.texts
        if not planned or full or characters + length > limits.characters or size + weight > limits.size:
            planned.append([])
            characters = size = 0
        planned[-1].append(block)
        characters, size = characters + length, size + weight
    return planned, too_long


def read_answer(block: Block, answer: str) -> BlockTranslation:
    """Return the translation of a block, if the answer is one."""
    restored = _AnswerReader(block).restore(answer)
    if restored is None:
        return BlockTranslation(block.key, reason=UntranslatedReason.MARKUP)
    words = plain_words(restored)
    if not words:
        return BlockTranslation(block.key, reason=UntranslatedReason.EMPTY)
    if words == plain_words(block.html):
        return BlockTranslation(block.key, reason=UntranslatedReason.UNCHANGED)
    return BlockTranslation(block.key, html=restored)


@dataclass(frozen=True)
class _Part:
    """A part of a block: as it is, as it is sent, and the number by which it comes back."""

    raw: str
    outgoing: str
    number: int | None = None
    role: str = "text"  # text, open, close, void, kept
    inside: int | None = None


def _replace_markup(html: str) -> Sequence[_Part]:
    parts: list[_Part] = []
    above: list[int] = []
    number = 0
    whole = list(tokenize(html))
    at = 0
    while at < len(whole):
        token = whole[at]
        parent = above[-1] if above else None
        at += 1
        if not token.name:
            parts.append(_Part(token.raw, token.raw))
        elif token.closes:
            parts.append(_Part(token.raw, "</span>", above.pop() if above else None, "close"))
        elif token.is_void:
            number += 1
            parts.append(_Part(token.raw, f'<{token.name} id="m{number}">', number, "void", parent))
        elif token.name in PROTECTED:
            number += 1
            end = _end_of(whole, at - 1)
            raw = "".join(one.raw for one in whole[at - 1 : end])
            outgoing = f'<span id="m{number}" class="notranslate" translate="no">{_escape(plain_words(raw))}</span>'
            parts.append(_Part(raw, outgoing, number, "kept", parent))
            at = end
        else:
            number += 1
            above.append(number)
            parts.append(_Part(token.raw, f'<span id="m{number}">', number, "open", parent))
    return parts


class _AnswerReader:
    """Reads an answer mark by mark; `restore` returns None when the answer does not have the markup of its block."""

    def __init__(self, block: Block) -> None:
        parts = _replace_markup(block.html)
        self._known = {part.number: part for part in parts if part.number is not None and part.role != "close"}
        self._ends = {part.number: part.raw for part in parts if part.role == "close"}
        self._written: list[str] = []
        self._above: list[_Part] = []
        self._seen: set[int | None] = set()

    def restore(self, answer: str) -> str | None:
        for token in tokenize(answer.strip()):
            if not (self._read_text(token) if not token.name else self._read_tag(token)):
                return None
        if self._above or self._seen != set(self._known):
            return None
        return "".join(self._written)

    def _read_text(self, token: Token) -> bool:
        if _TAG_LIKE.search(token.raw):
            return False
        # Code is restored as it was, whatever the translator did to it.
        if not (self._above and self._above[-1].role == "kept"):
            self._written.append(_escape(html_module.unescape(_strip_controls(token.raw))))
        return True

    def _read_tag(self, token: Token) -> bool:
        if token.closes:
            return self._read_end(token)
        found = _MARK_ID.search(token.raw)
        mark = self._known.get(int(found[1])) if found else None
        if mark is None or not self._fits(mark, token):
            return False
        self._seen.add(mark.number)
        if mark.role != "void":
            self._above.append(mark)
        if mark.role != "kept":
            self._written.append(mark.raw)
        return True

    def _read_end(self, token: Token) -> bool:
        if token.name != "span" or not self._above:
            return False
        part = self._above.pop()
        self._written.append(part.raw if part.role == "kept" else self._ends.get(part.number, ""))
        return True

    def _fits(self, mark: _Part, token: Token) -> bool:
        parent = self._above[-1].number if self._above else None
        same_place = mark.inside == parent and mark.number not in self._seen
        return same_place and (mark.role == "void") == token.is_void


def _end_of(tokens: Sequence[Token], begin: int) -> int:
    """Return the position after the element that begins here."""
    depth = 0
    for place in range(begin, len(tokens)):
        token = tokens[place]
        if token.name and not token.is_void:
            depth += -1 if token.closes else 1
        if depth == 0:
            return place + 1
    return len(tokens)


def _escape(text: str) -> str:
    return html_module.escape(text, quote=False)


def _strip_controls(text: str) -> str:
    """Remove control characters and direction overrides; joiners stay, because they belong to words."""
    return _CONTROL_CHARACTERS.sub("", text)


def _json_size(text: str) -> int:
    """The most bytes that a text takes inside JSON."""
    return len(text.encode(errors="replace")) + text.count('"') + text.count("\\") + text.count("\n") + 4


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
