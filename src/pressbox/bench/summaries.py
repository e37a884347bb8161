"""How well the extractive summaries say what their publishers say of the article, beside a peer.

A publisher's description is no perfect summary: it often repeats the first sentence. It is the only reference that real
pages bring along.
"""

import importlib
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from pressbox.curator.distil.extractive import summarise
from pressbox.curator.library.domain import ToDistil

SENTENCES = 4
PEER = "summa's TextRank"
# What is shorter is a slogan of the site, or an article that is its own summary.
LEAST_DESCRIPTION, LEAST_TEXT = 12, 150
_WORD = re.compile(r"\w+")
# Chooses the given number of sentences of a text.
Summariser = Callable[[str, int], str]


@dataclass(frozen=True)
class Described:
    """A text and what its publisher says of it."""

    text: str
    description: str


@dataclass(frozen=True)
class SummaryScores:
    """The mean ROUGE-1 F scores over `texts`; `peer` is None when it is not installed."""

    texts: int
    ours: float
    first_sentences: float
    peer: float | None


def describe_page(html: str, text: str) -> Described | None:
    """Pair a text with the description in its page's head, unless one of the two is too short to compare."""
    from trafilatura import extract_metadata

    metadata = extract_metadata(html)
    description = metadata.description if metadata else None
    if not description or len(_words(description)) < LEAST_DESCRIPTION or len(_words(text)) < LEAST_TEXT:
        return None
    return Described(text, description)


def score_summaries(samples: Sequence[Described]) -> SummaryScores:
    peer = _find_peer()
    return SummaryScores(
        texts=len(samples),
        ours=_score(samples, _summarise_extractively),
        first_sentences=_score(samples, _take_first),
        peer=_score(samples, peer) if peer else None,
    )


def time_summaries(texts: Sequence[str]) -> tuple[float, int]:
    """Return the summaries per second of processor time, and how many texts gave none."""
    entries = [ToDistil(number, "", text, "", "") for number, text in enumerate(texts)]
    summarise(entries[0], SENTENCES)
    began = time.process_time()
    summaries = [summarise(entry, SENTENCES).summary for entry in entries]
    return len(summaries) / (time.process_time() - began), sum(not summary for summary in summaries)


def rouge_1(found: str, expected: str) -> float:
    """The F score of the words that two texts share, with repetitions."""
    one, other = Counter(_words(found)), Counter(_words(expected))
    common = sum((one & other).values())
    return 2 * common / (sum(one.values()) + sum(other.values())) if common else 0.0


def _score(samples: Sequence[Described], summariser: Summariser) -> float:
    scores = [rouge_1(summariser(sample.text, SENTENCES), sample.description) for sample in samples]
    return fmean(scores) if scores else 0.0


def _summarise_extractively(text: str, sentences: int) -> str:
    return summarise(ToDistil(0, "", text, "", ""), sentences).summary


def _take_first(text: str, sentences: int) -> str:
    return " ".join(re.split(r"(?<=[.!?])\s+", text)[:sentences])


def _find_peer() -> Summariser | None:
    try:
        summarizer = importlib.import_module("summa.summarizer")
    except ImportError:
        return None

    def choose(text: str, sentences: int) -> str:
        ranked = summarizer.summarize(text, ratio=1.0, split=True, scores=True)
        best = sorted(ranked, key=lambda one: -one[1])[:sentences]
        return " ".join(sentence for sentence, _ in best)

    return choose


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
