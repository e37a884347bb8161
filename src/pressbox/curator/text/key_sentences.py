"""Chooses the sentences that say what a text is about: those whose words most of the others take up. Pure."""

import re
from collections.abc import Sequence
from typing import Any

from pressbox.curator.text.sentences import Sentence, extract_terms, is_whole

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
    scores = _scores(found, frozenset(extract_terms(title, language)))
    chosen: list[int] = []
    count = summary_length(len(found), wanted)
    # Without another choice, one that repeats something is better than none.
    for may_repeat in (False, True):
        for place in sorted(range(len(found)), key=lambda place: (-scores[place], place)):
            fresh = may_repeat or not any(_says_the_same(found[place][1], found[other][1]) for other in chosen)
            if len(chosen) < count and place not in chosen and fresh:
                chosen.append(place)
    return [found[place][0] for place in sorted(chosen)]


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
