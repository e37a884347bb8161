"""Places in a text: where a quote stands, and what of a long text surrounds them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    start: int
    end: int


def find_quote(quote: str, text: str) -> Span | None:
    """Where a quote stands in a text, word for word; blanks may differ. None: it does not."""
    wanted = quote.split()
    if not wanted:
        return None
    begin = text.find(wanted[0])
    while begin >= 0:
        end = _match_words(wanted, text, begin)
        if end is not None:
            return Span(begin, end)
        begin = text.find(wanted[0], begin + 1)
    return None


def _match_words(wanted: Sequence[str], text: str, begin: int) -> int | None:
    at = begin
    for place, word in enumerate(wanted):
        if place:
            before = at
            while at < len(text) and text[at].isspace():
                at += 1
            if at == before:
                return None
        if not text.startswith(word, at):
            return None
        at += len(word)
    return at


def excerpt(text: str, spans: Sequence[Span], limit: int) -> str:
    """The whole text where it fits, otherwise its beginning and what surrounds the places that were found."""
    if len(text) <= limit:
        return text
    room = limit // (len(spans) + 1)
    wanted = [Span(0, room)] + [Span(max(0, span.start - room // 2), span.start + room // 2) for span in spans]
    pieces, done = [], 0
    for span in sorted(wanted, key=lambda one: one.start):
        begin, end = max(span.start, done), min(span.end, len(text))
        if end > begin:
            pieces.append(text[begin:end])
            done = end
    return "\n[…]\n".join(piece.strip() for piece in pieces)[:limit]
