"""Research by rules: names of a question, sentences that speak of it, and citations that sources bear out. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.curator.context.domain import entity_key
from pressbox.curator.research.domain import Note, Source, Span
from pressbox.curator.text.sentences import extract_terms


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


MOST_QUOTES = 3
SHORTEST_QUOTE, LONGEST_QUOTE = 25, 500
# A name that only one source has leads away from the question.
LEAST_SOURCES = 2
# How much a sentence inside a passage that the search found is worth more than another.
_FOUND_IS_WORTH = 0.5
_QUOTED = re.compile(r"[\"“„«]([^\"”“»]{2,80})[\"”“»]")
_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w’'.-]*[\w](?:[ ](?:[^\W\d_a-zß-öø-ÿ][\w’'.-]*[\w]|\d+))*")
_SENTENCE = re.compile(r"[^\n.!?…。！？]+(?:[.!?…。！？]+(?=\s|$|[^\w\s])|[。！？]|(?=\n)|$|[.!?…]+)", re.UNICODE)
_SHORTEST_CJK = 8


def names_in(text: str, language: str = "en") -> list[str]:
    """What stands in quotation marks, and runs of words with capitals; without words that only begin a sentence."""
    found = [match[1].strip() for match in _QUOTED.finditer(text)]
    for match in _NAME.finditer(text):
        words = match[0].split()
        while words and not extract_terms(words[0], language) and not words[0][:1].isdigit():
            words.pop(0)
        if words and len(" ".join(words)) > 2:
            found.append(" ".join(words))
    seen: dict[str, str] = {}
    for name in found:
        seen.setdefault(entity_key(name), name)
    return [name for key, name in seen.items() if key]


def keywords(text: str, language: str = "en") -> str:
    """The words that carry meaning, once each, in order."""
    return " ".join(dict.fromkeys(extract_terms(text, language)))


def quotes_in(text: str, asked: Sequence[str], spans: Sequence[Span], wanted: int = MOST_QUOTES) -> list[Span]:
    """The sentences that share most with what is asked, in reading order."""
    weights = _weights(asked)
    scored = []
    for match in _SENTENCE.finditer(text):
        span = _trimmed(text, match.start(), match.end())
        said = text[span.start : span.end]
        shared = {word for word in extract_terms(said, "en") if word in weights}
        if shared and _is_readable(said):
            found = any(span.start < other.end and span.end > other.start for other in spans)
            score = sum(weights[word] for word in shared) + (_FOUND_IS_WORTH if found else 0.0)
            scored.append((score, -span.start, span))
    best = sorted(scored, reverse=True, key=lambda one: one[:2])[:wanted]
    return sorted((span for _, _, span in best), key=lambda span: span.start)


def shared_names(texts: Sequence[str], known: Sequence[str], wanted: int) -> list[str]:
    """Names that several texts have and nobody asked about, those of most texts first."""
    asked = " ".join(entity_key(question) for question in known)
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for text in texts:
        for name in names_in(text):
            spelled.setdefault(entity_key(name), name)
        counts.update({entity_key(name) for name in names_in(text)})
    common = [key for key, count in counts.most_common() if count >= LEAST_SOURCES and key not in asked]
    return [spelled[key] for key in common[:wanted]]


def _weights(asked: Sequence[str]) -> dict[str, float]:
    """The question itself counts most; further ones add what they have of their own."""
    weights: dict[str, float] = {}
    for place, question in enumerate(asked):
        for word in extract_terms(question, "en"):
            weights.setdefault(word, 1.0 if place == 0 else 0.4)
    return weights


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _is_readable(sentence: str) -> bool:
    shortest = SHORTEST_QUOTE if sentence.isascii() or " " in sentence else _SHORTEST_CJK
    return shortest <= len(sentence) <= LONGEST_QUOTE


LONGEST_REPORT = 20_000
# [1], and [1, 3] or [1][3]; more than three digits are a year or a page.
_CITATION = re.compile(r"[ \t]?\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
_TITLE_BREAKS = re.compile(r"[\r\n\t]+")


@dataclass(frozen=True)
class CheckedReport:
    """`cited` are the numbers that stand in the text, `dropped` how many stood there that no source has."""

    text: str
    cited: frozenset[int]
    dropped: int


def check_citations(text: str, sources: Sequence[Source]) -> CheckedReport:
    """The same text without citations of what is not there."""
    known = {source.number for source in sources}
    cited: set[int] = set()
    dropped = 0

    def keep_known(found: re.Match[str]) -> str:
        nonlocal dropped
        numbers = [int(number) for number in re.findall(r"\d+", found[1])]
        good = [number for number in numbers if number in known]
        cited.update(good)
        dropped += len(numbers) - len(good)
        lead = " " if found[0][0] in " \t" and good else ""
        return lead + "".join(f"[{number}]" for number in good)

    kept = "".join(one for one in text.strip()[:LONGEST_REPORT] if one.isprintable() or one in "\n\t")
    return CheckedReport(_CITATION.sub(keep_known, kept), frozenset(cited), dropped)


def write_from_notes(noted: Sequence[tuple[Source, tuple[Note, ...]]]) -> str:
    """The quotes themselves, source by source: nothing in it is anybody's but the articles'."""
    parts = []
    for source, notes in noted:
        quotes = "\n".join(f"- “{one_line(note.quote)}” [{source.number}]" for note in notes)
        parts.append(f"### {one_line(source.material.title)}\n\n{quotes}")
    return "\n\n".join(parts)


def one_line(text: str) -> str:
    return " ".join(_TITLE_BREAKS.sub(" ", text).split())
