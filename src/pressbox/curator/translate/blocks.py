"""Splits an article into blocks of text, and joins it again around their translations. Pure.

The HTML is sanitised, so a simple pattern finds its tags. It is split where block elements begin and end; everything
between the blocks stays as it is, so the structure cannot change.
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


# Code inside a line. Whole blocks of code are never split.
PROTECTED = frozenset({"code", "kbd", "samp", "var", "tt"})
_UNSPLIT = "pre"
_INLINE_TAGS = """
    a abbr b bdi bdo cite del dfn em i ins mark q rb rp rt rtc ruby s small span strike strong sub sup time u
"""
_VOID = frozenset({"br", "wbr", "img"})
_INLINE = frozenset(_INLINE_TAGS.split()) | PROTECTED | _VOID
_VOID_BLOCKS = frozenset({"hr", "col"})
_KINDS = {
    **dict.fromkeys(("h2", "h3", "h4", "h5", "h6", "summary"), BlockKind.HEADING),
    **dict.fromkeys(("li", "dt", "dd"), BlockKind.ITEM),
    **dict.fromkeys(("td", "th"), BlockKind.CELL),
    **dict.fromkeys(("figcaption", "caption"), BlockKind.CAPTION),
    "blockquote": BlockKind.QUOTE,
}
# Bounded, so that no input makes it slow.
_TAG = re.compile(r"""<(/?)([a-zA-Z][a-zA-Z0-9]{0,20}+)((?:[^<>"']|"[^"]{0,20000}+"|'[^']{0,20000}+'){0,2000}+)>""")
_URL = re.compile(r"(?:https?://|www\.)\S+")
_ID_ATTRIBUTE = re.compile(r"""\sid="[^"]*+\"""")


@dataclass(frozen=True)
class Token:
    """A tag with its name, or a text without one."""

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
        """The same text with the same markup has the same key, wherever it is."""
        return hashlib.md5(self.html.encode(errors="replace"), usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Pair:
    """A part of the article and its translation, side by side."""

    original: str
    translation: str

    @property
    def same(self) -> bool:
        """True for what has nothing to translate: code, a picture, a rule."""
        return _ID_ATTRIBUTE.sub("", self.original) == _ID_ATTRIBUTE.sub("", self.translation)


Piece = str | Block


def split_html(html: str) -> tuple[Piece, ...]:
    """Split HTML into blocks and the markup between them. Joined, they are the HTML again."""
    pieces: list[Piece] = []
    run: list[Token] = []
    inside: list[str] = []
    for token in tokenize(html):
        unsplit = _UNSPLIT in inside
        if not unsplit and (not token.name or token.name in _INLINE):
            run.append(token)
            continue
        pieces += _split_run(run, _kind(inside))
        run = []
        pieces.append(token.raw)
        _enter(inside, token)
    pieces += _split_run(run, _kind(inside))
    return tuple(pieces)


def find_blocks(title: str, summary: str, html: str) -> tuple[Block, ...]:
    """Return everything to translate, each block once."""
    found = [*text_block(BlockKind.TITLE, title), *text_block(BlockKind.SUMMARY, summary)]
    found += [piece for piece in split_html(html) if isinstance(piece, Block)]
    return tuple({block.key: block for block in reversed(found)}.values())[::-1]


def text_block(kind: BlockKind, text: str) -> tuple[Block, ...]:
    """Return plain text as a block, or nothing when it has no words."""
    escaped = html_module.escape(" ".join(text.split()), quote=False)
    return (Block(kind, escaped),) if _has_words([Token(escaped)]) else ()


def pair_up(html: str, translations: Mapping[str, str], *, with_original: bool = True) -> Sequence[Pair]:
    """Pair each paragraph, list and so on with its translation. A block without one stays as it is.

    Beside the original the translation loses its ids, since an id may be on a page only once.
    """
    pairing = _Pairing(with_original)
    for piece in split_html(html):
        if isinstance(piece, Block):
            pairing.text(piece.html, translations.get(piece.key, piece.html))
        else:
            for token in tokenize(piece):
                pairing.markup(token)
    pairing.end()
    return pairing.found


class _Pairing:
    """Collects pairs while it walks through the pieces of an article."""

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
        # A div around all paragraphs would make the whole article one pair.
        if self._depth or token.name != "div":
            self._original.append(token.raw)
            self._translation.append(token.raw)
            self._depth = max(self._depth + opens - token.closes, 0)
        if token.closes and self._depth == 0:
            self.end()

    def end(self) -> None:
        if "".join(self._original).strip():
            text = "".join(self._translation)
            self.found.append(
                Pair("".join(self._original), _ID_ATTRIBUTE.sub("", text) if self._with_original else text)
            )
        self._original.clear()
        self._translation.clear()


def _split_run(run: Sequence[Token], kind: BlockKind) -> list[Piece]:
    """Split a run into blocks; tags whose other half is outside of the run stay between them."""
    unmatched = _unmatched_tags(run)
    pieces: list[Piece] = []
    begin = 0
    for place in (*sorted(unmatched), len(run)):
        part = run[begin:place]
        html = "".join(token.raw for token in part)
        if _has_words(part):
            stripped = html.strip()
            before = html[: len(html) - len(html.lstrip())]
            pieces += [before, Block(kind, stripped), html[len(before) + len(stripped) :]]
        else:
            pieces.append(html)
        if place < len(run):
            pieces.append(run[place].raw)
        begin = place + 1
    return [piece for piece in pieces if piece]


def _unmatched_tags(run: Sequence[Token]) -> set[int]:
    """The positions of tags that are not closed, or not opened, within the run."""
    unmatched: set[int] = set()
    open_tags: list[int] = []
    for place, token in enumerate(run):
        if not token.name or token.is_void:
            continue
        if not token.closes:
            open_tags.append(place)
        elif open_tags and run[open_tags[-1]].name == token.name:
            open_tags.pop()
        else:
            unmatched.add(place)
    return unmatched | set(open_tags)


def _has_words(run: Sequence[Token]) -> bool:
    """True when there are letters that are neither code nor part of an address."""
    words, protected = [], 0
    for token in run:
        if token.name in PROTECTED:
            protected += -1 if token.closes else 1
        elif not token.name and not protected:
            words.append(token.raw)
    text = _URL.sub(" ", html_module.unescape("".join(words)))
    return any(character.isalpha() for character in text)


def tokenize(html: str) -> Iterator[Token]:
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


def plain_words(html: str) -> str:
    text = "".join(token.raw for token in tokenize(html) if not token.name)
    return " ".join(html_module.unescape(text).split())
