"""What a translator gets of a block and what counts as its answer. Pure.

Inside a block the markup travels as numbered marks without addresses, and code as something that is not to be
translated. An answer counts only if each mark came back once and in its place; text of an answer is never markup.
"""

import html as html_module
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pressbox.curator.translate.domain.article_blocks import PROTECTED, Block, Token, tokens, words_of


class Why(StrEnum):
    """Why a block stays as it was."""

    MARKUP = "markup"  # the answer lost, doubled or moved links or other markup
    EMPTY = "empty"
    UNCHANGED = "unchanged"
    LONG = "long"  # longer than the provider takes
    REFUSED = "refused"  # the provider does not translate it
    UNUSABLE = "unusable"  # the answer was no translation at all


_MARK_ID = re.compile(r"""\bid\s*+=\s*+["']?m?(\d{1,5})\b""")
_TAG_LIKE = re.compile(r"<[a-zA-Z/!?]")
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Done:
    """What became of a block: its translation, or why there is none."""

    key: str
    html: str = ""
    why: Why | None = None


@dataclass(frozen=True)
class Limits:
    """What a provider takes in one request. A block longer than `longest` is not sent at all; one that is longer than
    `characters`, where that is less, goes alone.
    """

    texts: int
    characters: int
    size: int
    longest: int


def sent(block: Block) -> str:
    """What a provider gets."""
    return "".join(part.sent for part in _marked(block.html))


def requests(blocks: Sequence[Block], limits: Limits) -> tuple[Sequence[Sequence[Block]], Sequence[Done]]:
    """As few requests as the limits allow, in the order of the article; and those blocks that fit into none."""
    made: list[list[Block]] = []
    too_long: list[Done] = []
    characters = size = 0
    for block in blocks:
        text = sent(block)
        length, weight = len(text), _weight(text)
        if length > limits.longest or weight > limits.size:
            too_long.append(Done(block.key, why=Why.LONG))
            continue
        full = made and len(made[-1]) >= limits.texts
        if not made or full or characters + length > limits.characters or size + weight > limits.size:
            made.append([])
            characters = size = 0
        made[-1].append(block)
        characters, size = characters + length, size + weight
    return made, too_long


def taken(block: Block, answer: str) -> Done:
    """The translation of a block, if the answer is one."""
    restored = _Answer(block).restored(answer)
    if restored is None:
        return Done(block.key, why=Why.MARKUP)
    words = words_of(restored)
    if not words:
        return Done(block.key, why=Why.EMPTY)
    if words == words_of(block.html):
        return Done(block.key, why=Why.UNCHANGED)
    return Done(block.key, html=restored)


@dataclass(frozen=True)
class _Part:
    """A piece of a block: as it is, as it is sent, and the number by which it comes back."""

    raw: str
    sent: str
    number: int | None = None
    role: str = "text"  # text, open, close, void, kept
    inside: int | None = None


def _marked(html: str) -> Sequence[_Part]:
    parts: list[_Part] = []
    above: list[int] = []
    number = 0
    whole = list(tokens(html))
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
            sent = f'<span id="m{number}" class="notranslate" translate="no">{_escaped(words_of(raw))}</span>'
            parts.append(_Part(raw, sent, number, "kept", parent))
            at = end
        else:
            number += 1
            above.append(number)
            parts.append(_Part(token.raw, f'<span id="m{number}">', number, "open", parent))
    return parts


class _Answer:
    """An answer that is read mark by mark; `restored` is None when it has not the markup of its block."""

    def __init__(self, block: Block) -> None:
        parts = _marked(block.html)
        self._known = {part.number: part for part in parts if part.number is not None and part.role != "close"}
        self._ends = {part.number: part.raw for part in parts if part.role == "close"}
        self._written: list[str] = []
        self._above: list[_Part] = []
        self._seen: set[int | None] = set()

    def restored(self, answer: str) -> str | None:
        for token in tokens(answer.strip()):
            if not (self._text(token) if not token.name else self._tag(token)):
                return None
        if self._above or self._seen != set(self._known):
            return None
        return "".join(self._written)

    def _text(self, token: Token) -> bool:
        if _TAG_LIKE.search(token.raw):
            return False
        # Code is put back as it was, whatever became of it on the way.
        if not (self._above and self._above[-1].role == "kept"):
            self._written.append(_escaped(html_module.unescape(_shown(token.raw))))
        return True

    def _tag(self, token: Token) -> bool:
        if token.closes:
            return self._closed(token)
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

    def _closed(self, token: Token) -> bool:
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
    """Just after the element that begins here."""
    depth = 0
    for place in range(begin, len(tokens)):
        token = tokens[place]
        if token.name and not token.is_void:
            depth += -1 if token.closes else 1
        if depth == 0:
            return place + 1
    return len(tokens)


def _escaped(text: str) -> str:
    return html_module.escape(text, quote=False)


def _shown(text: str) -> str:
    """Without what turns the direction of what follows, and without control characters. Joiners belong to words."""
    return _UNSHOWN.sub("", text)


def _weight(text: str) -> int:
    """Bytes of a text inside JSON, at most."""
    return len(text.encode(errors="replace")) + text.count('"') + text.count("\\") + text.count("\n") + 4
