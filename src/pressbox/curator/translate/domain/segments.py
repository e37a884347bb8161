"""What is sent to a translator for a block, and what counts as its translation. Pure.

Inside a block the markup is sent as numbered marks without addresses, and code as text that must not be translated. An
answer counts only if each mark comes back once and in its place; text of an answer is never markup.
"""

import html as html_module
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pressbox.curator.translate.domain.blocks import PROTECTED, Block, Token, plain_words, tokenize


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
