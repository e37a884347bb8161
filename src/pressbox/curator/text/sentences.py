"""Splits lines into sentences, offline, and chooses those that say what a text is about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pressbox.curator.text.words import STOP_WORDS

# The splitter's time grows with the square of what it gets at once.
_AT_ONCE = 1_500
_SENTENCE_ENDS = re.compile("(?<=[.!?。！？…])(?:\\s+|(?<=[。！？]))")
# An abbreviation, an initial, a number, a quotation or an ellipsis at what looks like an end: then rules are needed.
_UNCLEAR = re.compile(
    r"(?:\b[^\W\d_]{1,2}|\b[A-ZÀ-Þ][^\W\d_]{1,4}|\d|\b[^\Waeiouyäöüéèàáíóú\d_]{2,5}|\w\.\w+)\.(?=\s)"
    r"|[.!?…][\"'”’»)\]]|\.\.|…|\"|[.!?]\s+[^\WA-ZÀ-Þ\d_]"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_CJK = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u30a0-\u30ff\uac00-\ud7af]+")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_HANGUL = re.compile("[\uac00-\ud7af]")
_ANY_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
# Closing marks may follow the end: a quotation, a bracket, the number of a footnote.
_END = re.compile("(?<![.!?…。！？｡؟।])[.!?…。！？｡؟।]++[\\s\"'“”’»›)\\]）」』】]*+(?:\\[\\d++\\])*+$")
_UNFINISHED = re.compile("(?:\\.\\.\\.|…)[\\s\"'”’»)\\]]*$")
_BEGINS_IN_THE_MIDDLE = re.compile("^[\\s,;:)\\]}>.…!?»’]|^[a-zà-öø-ÿß]")
_PAIRS = (("(", ")"), ("[", "]"), ("（", "）"), ("「", "」"), ("『", "』"))
_SHORTEST, _LONGEST = 25, 400
_SHORTEST_CJK, _LONGEST_CJK = 10, 160


@dataclass(frozen=True)
class Sentence:
    text: str
    line: int


def split_sentences(lines: list[str], first: int, last: int, language: str) -> list[Sentence]:
    return [
        Sentence(sentence, number)
        for number in range(first, last + 1)
        for piece in _pieces(lines[number])
        for sentence in _split(piece, language)
    ]


def split_roughly(lines: list[str], first: int, last: int) -> list[Sentence]:
    """Split at punctuation alone, for texts that are too long to be split by rules."""
    return [
        Sentence(stripped, number)
        for number in range(first, last + 1)
        for piece in _pieces(lines[number])
        for part in _SENTENCE_ENDS.split(piece)
        if (stripped := part.strip())
    ]


def _split(text: str, language: str) -> list[str]:
    # Four lines of five are clear, and the splitter with rules takes a hundred times as long.
    segmenter = _segmenter(language) if _UNCLEAR.search(text) else None
    parts = _SENTENCE_ENDS.split(text) if segmenter is None else segmenter.segment(text)
    return [stripped for part in parts if (stripped := str(part).strip())]


def _pieces(line: str) -> Iterator[str]:
    """Cut a very long line into pieces, each ending where a sentence seems to end."""
    if len(line) <= _AT_ONCE:
        yield line
        return
    piece = ""
    for part in _SENTENCE_ENDS.split(line):
        if piece and len(piece) + len(part) > _AT_ONCE:
            yield piece
            piece = ""
        # No real sentence is that long; its end is not needed.
        piece = f"{piece} {part}".strip()[: 2 * _AT_ONCE]
    yield piece


@cache
def _segmenter(language: str) -> Any | None:
    import pysbd  # type: ignore[import-untyped]

    return pysbd.Segmenter(language=language, clean=False) if language in _languages() else None


@cache
def _languages() -> frozenset[str]:
    from pysbd.languages import LANGUAGE_CODES  # type: ignore[import-untyped]

    return frozenset(LANGUAGE_CODES)


def is_whole(text: str) -> bool:
    """Whether this is a sentence from its beginning to its end, of a readable length."""
    if _END.search(text) is None or _UNFINISHED.search(text) or _BEGINS_IN_THE_MIDDLE.search(text):
        return False
    if " | " in text or "://" in text or not _is_balanced(text):
        return False
    shortest, longest = (_SHORTEST_CJK, _LONGEST_CJK) if is_cjk(text) or _HANGUL.search(text) else (_SHORTEST, _LONGEST)
    return shortest <= len(text) <= longest


def _is_balanced(text: str) -> bool:
    """Whether every bracket and quotation mark is closed: half a quotation is half a sentence."""
    pairs = all(text.count(opening) == text.count(closing) for opening, closing in _PAIRS)
    # German opens with its own mark and closes with the one that opens in English.
    opened = text.count("„") or text.count("“")
    closed = text.count("“") + text.count("”") if "„" in text else text.count("”")
    return pairs and opened == closed and text.count('"') % 2 == 0


def is_cjk(text: str) -> bool:
    """Whether most of the text is written without spaces between words."""
    return len(_ANY_CJK.findall(text)) * 3 > len(text)


def extract_terms(text: str, language: str) -> list[str]:
    """Return the words that carry meaning, or pairs of characters where there are no spaces."""
    ignored = STOP_WORDS.get(language, frozenset()) | STOP_WORDS["en"]
    words = [word for word in _WORD.findall(_HIRAGANA.sub(" ", _CJK.sub(" ", text)).lower()) if word not in ignored]
    pairs = [run[place : place + 2] for run in _CJK.findall(text) for place in range(max(1, len(run) - 1))]
    return words + pairs


# These refer to the sentence before, which a summary leaves out.
_DEPENDENT = re.compile(
    r"(?:but|however|also|moreover|therefore|thus|instead|meanwhile|and|so|yet|it|he|she|they|this|that|these|those"
    r"|aber|zudem|außerdem|jedoch|dennoch|deshalb|daher|dabei|dagegen|und|er|sie|es|dies|diese|dieser|dieses|das"
    r"|mais|cependant|il|elle|ils|pero|además|sin embargo)\b",
    re.IGNORECASE,
)
_DEPENDENT_WORTH = 0.9
# News puts first what matters: what the first place is worth, against words that come back.
_FIRST_WORTH = 0.15
# What a sentence is worth that has all its words in common with the title.
_TITLE_WORTH = 0.2
# So much of a word is the same in "attack", "attacks" and "attacked"; with fewer words of the title nothing is told.
_ROOT, _LEAST_TOLD = 5, 2
# How much of its rank a sentence passes on to those that it shares words with, and how often.
_DAMPING, _ROUNDS = 0.85, 30
# With so much of its words in a chosen sentence, another one says the same.
_SAME = 0.8


def summary_length(available: int, wanted: int) -> int:
    """How many sentences a summary has: fewer when the text itself is short."""
    if available <= 3:
        return min(available, wanted)
    return min(wanted, 3) if available <= 8 else wanted


def choose_sentences(sentences: Sequence[Sentence], title: str, language: str, wanted: int) -> list[Sentence]:
    """Choose the most telling whole sentences, without repetitions, in reading order."""
    whole = list({_key(one.text): one for one in reversed(sentences) if is_whole(one.text)}.values())[::-1]
    found = [(one, terms) for one in whole if (terms := extract_terms(one.text, language))]
    if not found:
        return []
    named = extract_terms(title, language)
    scores = _scores(found, frozenset(named))
    order = sorted(range(len(found)), key=lambda place: (-scores[place], place))
    telling = _find_telling([words for _, words in found], named)
    if telling is not None:
        order.insert(0, telling)
    chosen: list[int] = []
    count = summary_length(len(found), wanted)
    # Without another choice, one that repeats something is better than none.
    for may_repeat in (False, True):
        for place in order:
            fresh = may_repeat or not any(_says_the_same(found[place][1], found[other][1]) for other in chosen)
            if len(chosen) < count and place not in chosen and fresh:
                chosen.append(place)
    return [found[place][0] for place in sorted(chosen)]


def _find_telling(sentences: Sequence[Sequence[str]], title: Sequence[str]) -> int | None:
    """Return the first of the sentences that say most of what the title announces: a summary never lacks that."""
    announced = {word[:_ROOT] for word in title}
    shared = [len(announced & {word[:_ROOT] for word in words}) for words in sentences]
    most = max(shared, default=0)
    return shared.index(most) if most >= _LEAST_TOLD else None


def _scores(found: Sequence[tuple[Sentence, Sequence[str]]], title: frozenset[str]) -> list[float]:
    ranks = _rank([words for _, words in found])
    scores = []
    for place, (sentence, words) in enumerate(found):
        independence = _DEPENDENT_WORTH if _DEPENDENT.match(sentence.text) else 1.0
        first = 1 + _FIRST_WORTH * (1 - place / len(found))
        titled = 1 + _TITLE_WORTH * (len(title & set(words)) / len(title) if title else 0.0)
        scores.append(float(ranks[place]) * independence * first * titled)
    return scores


def _rank(sentences: Sequence[Sequence[str]]) -> Any:
    """Rank sentences as pages are ranked by their links, with shared words for links (TextRank)."""
    import numpy

    numbers = {word: number for number, word in enumerate(dict.fromkeys(word for words in sentences for word in words))}
    has = numpy.zeros((len(sentences), len(numbers)), dtype=numpy.float32)
    for row, words in enumerate(sentences):
        has[row, [numbers[word] for word in words]] = 1
    # Long sentences share words with all others by chance alone.
    sizes = numpy.log(1 + numpy.array([len(words) for words in sentences]))
    links = (has @ has.T) / (sizes[:, None] + sizes[None, :])
    numpy.fill_diagonal(links, 0)
    totals = links.sum(axis=1, keepdims=True)
    shares = links / numpy.where(totals > 0, totals, 1)
    ranks = numpy.full(len(sentences), 1 / len(sentences))
    for _ in range(_ROUNDS):
        ranks = (1 - _DAMPING) / len(sentences) + _DAMPING * (shares.T @ ranks)
    return ranks


def _says_the_same(one: Sequence[str], other: Sequence[str]) -> bool:
    words, others = set(one), set(other)
    return len(words & others) >= _SAME * min(len(words), len(others))


def _key(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
