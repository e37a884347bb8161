"""A report as HTML: headings, paragraphs, lists and citations, everything escaped; no link but those to its sources."""

import re
from collections.abc import Iterator, Mapping

from markupsafe import Markup, escape

from pressbox.curator.ask.domain.text import Piece, PieceKind, pieces

_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?=\S)")
_FORMS = {
    PieceKind.STRONG: Markup("<strong>{}</strong>"),
    PieceKind.EMPHASIS: Markup("<em>{}</em>"),
    PieceKind.CODE: Markup("<code>{}</code>"),
}
# The page itself has the first two levels.
_FIRST_LEVEL, _LAST_LEVEL = 3, 4


def render_report(text: str, addresses: Mapping[int, str]) -> Markup:
    """`addresses` say where the citation of a number leads; a number without one stays the text that it is."""
    return Markup("\n").join(_blocks(text, addresses))


def _blocks(text: str, addresses: Mapping[int, str]) -> Iterator[Markup]:
    for part in re.split(r"\n\s*\n", text.strip()):
        said: list[str] = []
        items: list[str] = []
        for line in part.split("\n"):
            heading = _HEADING.match(line)
            if heading or _ITEM.match(line):
                yield from _paragraph(said, addresses)
                said = []
            if heading or not _ITEM.match(line):
                yield from _list(items, addresses)
                items = []
            if heading:
                level = min(_FIRST_LEVEL + max(len(heading[1]) - 2, 0), _LAST_LEVEL)
                yield Markup("<h{0}>{1}</h{0}>").format(level, _inline(heading[2], addresses))
            elif _ITEM.match(line):
                items.append(_ITEM.sub("", line))
            elif line.strip():
                said.append(line.strip())
        yield from _paragraph(said, addresses)
        yield from _list(items, addresses)


def _paragraph(lines: list[str], addresses: Mapping[int, str]) -> Iterator[Markup]:
    if lines:
        yield Markup("<p>{}</p>").format(_inline(" ".join(lines), addresses))


def _list(items: list[str], addresses: Mapping[int, str]) -> Iterator[Markup]:
    if items:
        drawn = Markup("").join(Markup("<li>{}</li>").format(_inline(item, addresses)) for item in items)
        yield Markup("<ul>{}</ul>").format(drawn)


def _inline(line: str, addresses: Mapping[int, str]) -> Markup:
    return Markup("").join(_drawn(piece, addresses) for piece in pieces(line))


def _drawn(piece: Piece, addresses: Mapping[int, str]) -> Markup:
    if piece.kind is PieceKind.CITATION:
        address = addresses.get(piece.number)
        if address is None:
            return escape(f"[{piece.text}]")
        return Markup('<a class="cite" href="{}">{}</a>').format(address, piece.text)
    form = _FORMS.get(piece.kind)
    return escape(piece.text) if form is None else form.format(piece.text)
