"""An article cut into blocks of text, and put together again around what became of them. Pure.

The HTML is sanitised, so its tags can be told by their form. It is cut where block elements begin and end; everything
between the blocks stays as it is, so that structure cannot change.
"""

import hashlib
import html as html_module
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class BlockKind(StrEnum):
    TITLE = "title"
    SUMMARY = "summary"
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    ITEM = "item"
    QUOTE = "quote"
    CELL = "cell"
    CAPTION = "caption"


# Code and what is like it, inside a line. Whole blocks of it are never cut.
PROTECTED = frozenset({"code", "kbd", "samp", "var", "tt"})
_UNCUT = "pre"
_INLINE_NAMES = """
    a abbr b bdi bdo cite del dfn em i ins mark q rb rp rt rtc ruby s small span strike strong sub sup time u
"""
_VOID = frozenset({"br", "wbr", "img"})
_WITHIN_A_LINE = frozenset(_INLINE_NAMES.split()) | PROTECTED | _VOID
_VOID_BLOCKS = frozenset({"hr", "col"})
_KINDS = {
    **dict.fromkeys(("h2", "h3", "h4", "h5", "h6", "summary"), BlockKind.HEADING),
    **dict.fromkeys(("li", "dt", "dd"), BlockKind.ITEM),
    **dict.fromkeys(("td", "th"), BlockKind.CELL),
    **dict.fromkeys(("figcaption", "caption"), BlockKind.CAPTION),
    "blockquote": BlockKind.QUOTE,
}
# Every character is looked at a bounded number of times, whatever a stranger wrote.
_TAG = re.compile(r"""<(/?)([a-zA-Z][a-zA-Z0-9]{0,20}+)((?:[^<>"']|"[^"]{0,20000}+"|'[^']{0,20000}+'){0,2000}+)>""")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+")
_OWN_ID = re.compile(r"""\sid="[^"]*+\"""")


@dataclass(frozen=True)
class Token:
    """A tag with its name, or text without one."""

    raw: str
    name: str = ""
    closes: bool = False

    @property
    def is_void(self) -> bool:
        return self.name in _VOID


@dataclass(frozen=True)
class Block:
    """One run of text with its inline markup."""

    kind: BlockKind
    html: str

    @cached_property
    def key(self) -> str:
        """The same words with the same markup are the same block, wherever they stand."""
        return hashlib.md5(self.html.encode(errors="replace"), usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Pair:
    """A piece of the article and what it became, side by side."""

    original: str
    translation: str

    @property
    def same(self) -> bool:
        """There is nothing to translate in it: code, a picture, a line."""
        return _OWN_ID.sub("", self.original) == _OWN_ID.sub("", self.translation)


Piece = str | Block


def cut(html: str) -> tuple[Piece, ...]:
    """Blocks, and between them the markup that stays. Joined they are the HTML again."""
    pieces: list[Piece] = []
    run: list[Token] = []
    inside: list[str] = []
    for token in tokens(html):
        uncut = _UNCUT in inside
        if not uncut and (not token.name or token.name in _WITHIN_A_LINE):
            run.append(token)
            continue
        pieces += _pieces_of(run, _kind(inside))
        run = []
        pieces.append(token.raw)
        _enter(inside, token)
    pieces += _pieces_of(run, _kind(inside))
    return tuple(pieces)


def blocks_of(title: str, summary: str, html: str) -> tuple[Block, ...]:
    """All that is to be translated, each once."""
    found = [*text_block(BlockKind.TITLE, title), *text_block(BlockKind.SUMMARY, summary)]
    found += [piece for piece in cut(html) if isinstance(piece, Block)]
    return tuple({block.key: block for block in reversed(found)}.values())[::-1]


def text_block(kind: BlockKind, text: str) -> tuple[Block, ...]:
    """Plain text as a block; none when there is nothing to say in another language."""
    escaped = html_module.escape(" ".join(text.split()), quote=False)
    return (Block(kind, escaped),) if _speaks([Token(escaped)]) else ()


def pairs(html: str, shown: Mapping[str, str], *, with_original: bool = True) -> Sequence[Pair]:
    """Paragraph by paragraph, list by list. `shown` has by block what stands for it; without it the block stays.

    Beside the original the translation has no places to jump to: each can be on a page only once.
    """
    pairing = _Pairing(with_original)
    for piece in cut(html):
        if isinstance(piece, Block):
            pairing.text(piece.html, shown.get(piece.key, piece.html))
        else:
            for token in tokens(piece):
                pairing.markup(token)
    pairing.end()
    return pairing.found


class _Pairing:
    def __init__(self, with_original: bool) -> None:
        self.found: list[Pair] = []
        self._with_original = with_original
        self._original: list[str] = []
        self._translation: list[str] = []
        self._depth = 0

    def text(self, original: str, translation: str) -> None:
        before, after = ("", "") if self._depth else ("<p>", "</p>")
        self._original.append(f"{before}{original}{after}")
        self._translation.append(f"{before}{translation}{after}")

    def markup(self, token: Token) -> None:
        opens = bool(token.name) and not token.closes and not token.is_void and token.name not in _VOID_BLOCKS
        if opens and self._depth == 0:
            self.end()
        # What only groups paragraphs would make the whole article one pair.
        if self._depth or token.name != "div":
            self._original.append(token.raw)
            self._translation.append(token.raw)
            self._depth = max(self._depth + opens - token.closes, 0)
        if token.closes and self._depth == 0:
            self.end()

    def end(self) -> None:
        if "".join(self._original).strip():
            text = "".join(self._translation)
            self.found.append(Pair("".join(self._original), _OWN_ID.sub("", text) if self._with_original else text))
        self._original.clear()
        self._translation.clear()


def _pieces_of(run: Sequence[Token], kind: BlockKind) -> list[Piece]:
    """A run as blocks; tags whose other half is outside of it stay between them."""
    lone = _lone(run)
    pieces: list[Piece] = []
    begin = 0
    for place in (*sorted(lone), len(run)):
        part = run[begin:place]
        html = "".join(token.raw for token in part)
        if _speaks(part):
            stripped = html.strip()
            before = html[: len(html) - len(html.lstrip())]
            pieces += [before, Block(kind, stripped), html[len(before) + len(stripped) :]]
        else:
            pieces.append(html)
        if place < len(run):
            pieces.append(run[place].raw)
        begin = place + 1
    return [piece for piece in pieces if piece]


def _lone(run: Sequence[Token]) -> set[int]:
    """Places of tags in a run that are not closed, or not opened, within it."""
    lone: set[int] = set()
    above: list[int] = []
    for place, token in enumerate(run):
        if not token.name or token.is_void:
            continue
        if not token.closes:
            above.append(place)
        elif above and run[above[-1]].name == token.name:
            above.pop()
        else:
            lone.add(place)
    return lone | set(above)


def _speaks(run: Sequence[Token]) -> bool:
    """Whether there is anything to translate: letters that are neither code nor an address."""
    words, protected = [], 0
    for token in run:
        if token.name in PROTECTED:
            protected += -1 if token.closes else 1
        elif not token.name and not protected:
            words.append(token.raw)
    text = _ADDRESS.sub(" ", html_module.unescape("".join(words)))
    return any(character.isalpha() for character in text)


def tokens(html: str) -> Iterator[Token]:
    done = 0
    for found in _TAG.finditer(html):
        if found.start() > done:
            yield Token(html[done : found.start()])
        yield Token(found.group(), found[2].lower(), found[1] == "/")
        done = found.end()
    if done < len(html):
        yield Token(html[done:])


def _enter(inside: list[str], token: Token) -> None:
    if token.name in _VOID_BLOCKS or not token.name:
        return
    if not token.closes:
        inside.append(token.name)
    elif token.name in inside:
        while inside.pop() != token.name:
            pass


def _kind(inside: Sequence[str]) -> BlockKind:
    return next((_KINDS[name] for name in reversed(inside) if name in _KINDS), BlockKind.PARAGRAPH)


def words_of(html: str) -> str:
    text = "".join(token.raw for token in tokens(html) if not token.name)
    return " ".join(html_module.unescape(text).split())
