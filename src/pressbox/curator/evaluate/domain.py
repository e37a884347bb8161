"""What is judged and by which measures, the estimate that needs no model, and scores over time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from pressbox.curator.text.sentences import extract_terms

# As much as a model gets of an article when it summarises it: it is not judged by what it did not see.
LONGEST_CONTEXT = 16_000
LONGEST_TEXT = 8_000
MOST_SENTENCES = 40
MOST_PASSAGES = 400
# A sentence counts as supported when one place has this share of its words that carry meaning.
MIN_OVERLAP = 0.75
# Sentences this close say the same, measured with the bundled vectors: the farthest paraphrase has 0.68, the nearest
# other sentence 0.62 in the sixteen pairs of test_evaluation_pairs.py.
MIN_SIMILARITY = 0.66
_CITATION = re.compile(r"(?<!\s)\s*+\[\d{1,3}+(?:\s*+,\s*+\d{1,3}+)*+\]")
_MARKUP = re.compile(r"^[^\S\n]*+(?:[#>*-]++|\d++\.)\s++|[*_`]{1,3}", re.MULTILINE)
_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
# Questions for a time, a number or an age, in the languages whose articles most people read.
_ASKS_FIGURE = re.compile(
    r"""\b(?: when | since\ when | how\ (?:many|much|old|long|far|often|tall|high|big)
    | (?:what|which)\ (?:year|date|day|time)
    | wann | wie\ ?viele? | wie\ (?:alt|lange|oft|hoch|weit|groß|teuer) | welche[ms]?\ (?:jahr|datum|tag)
    | quand | combien | quelle\ (?:date|année|heure) | quel\ (?:jour|âge)
    | cuándo | cuánt[oa]s? | qué\ (?:año|fecha|día|hora) | quando | quant[oaie]s?
    )\b | いつ | 何(?:人|年|時|日|月|件|個|歳|回) | いくつ | いくら | 多少 | 几 | 何时 | 什么时候 | 언제 | 몇 | 얼마""",
    re.IGNORECASE | re.VERBOSE,
)
# Figures, numbers in words, months, days: whatever may answer such a question.
_HAS_FIGURE = re.compile(
    r"""\d | [一二三四五六七八九十百千万億] | \b
      (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|thousand|once|twice|half
      |einmal|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|hälfte
      |deux|trois|quatre|cinq|sept|huit|neuf|dix|cent|mille|moitié
      |dos|tres|cuatro|cinco|siete|ocho|nueve|diez|cien|mil|mitad
      |january|february|march|april|(?-i:May)|june|july|august|september|october|november|december
      |januar|jänner|februar|märz|mai|juni|juli|oktober|dezember
      |janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre
      |enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre
      |(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch
      |today|yesterday|tomorrow|heute|gestern|morgen|demain|hoy|ayer)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SAYS_NOTHING = re.compile(
    r"""\b(?:passages?|sources?|texts?|articles?|material)\b[^.!?\n]{0,40}\b
      (?:do(?:es)?\ not|don['’]t|doesn['’]t|never)\ (?:\w+\ ){0,2}
      (?:say|state|mention|tell|answer|name|give|contain|specify)
    | \bnot\ (?:stated|mentioned|given|said|specified|answered|clear)\b[^.!?\n]{0,40}
      \b(?:passages?|sources?|texts?|articles?)\b
    | \b(?:textstellen?|passagen?|quellen?|texte?|artikel)\b[^.!?\n]{0,60}\bnicht\b
    | \bnicht\b[^.!?\n]{0,40}\b(?:textstellen?|passagen?|quellen?|texten?|artikeln?)\b
    | \bpassages?\b[^.!?\n]{0,40}\bne\b[^.!?\n]{0,30}\bpas\b
    | \b(?:pasajes?|textos?)\b[^.!?\n]{0,20}\bno\b""",
    re.IGNORECASE | re.VERBOSE,
)


class SubjectKind(StrEnum):
    ANSWER = "answer"
    RESEARCH = "research"
    SUMMARY = "summary"


class Metric(StrEnum):
    """Estimates have names of their own, so that nobody takes them for a model's judgement."""

    FAITHFULNESS = "faithfulness"
    ANSWER_RELEVANCY = "answer_relevancy"
    SUPPORT_ESTIMATE = "support_estimate"
    RELEVANCE_ESTIMATE = "relevance_estimate"


@dataclass(frozen=True)
class Judged:
    """A text that a model wrote to a question, based on `contexts`. `model` and `prompt_version` say who wrote it."""

    kind: SubjectKind
    subject_id: int
    question: str
    text: str
    contexts: tuple[str, ...]
    model: str
    prompt_version: str
    language: str = ""
    entry_id: int | None = None
    feed_id: int | None = None

    @property
    def can_be_judged(self) -> bool:
        return bool(self.question.strip() and self.text.strip() and any(one.strip() for one in self.contexts))


@dataclass(frozen=True)
class Measure:
    """`score` is between 0 and 1, the more the better."""

    metric: Metric
    score: float


def strip_markup(text: str) -> str:
    """Remove citations and Markdown: they say nothing that could be true or false."""
    return _MARKUP.sub("", _CITATION.sub("", text)).strip()


def statements(text: str, most: int = MOST_SENTENCES) -> list[str]:
    """The sentences of a text, roughly: an estimate needs no better ends."""
    found = (" ".join(part.split()) for part in _ENDS.split(strip_markup(text)))
    return [part for part in found if any(character.isalnum() for character in part)][:most]


def misses_question(question: str, text: str) -> bool:
    """Whether a text plainly does not say what was asked: no figure where one was asked for, or it says so itself."""
    said = strip_markup(text)
    if _ASKS_FIGURE.search(question) and not _HAS_FIGURE.search(said):
        return True
    first = next(iter(statements(said, 1)), "")
    return _SAYS_NOTHING.search(first) is not None


def limit_contexts(contexts: Sequence[str], longest: int = LONGEST_CONTEXT) -> tuple[str, ...]:
    """The first contexts, together not longer than `longest`."""
    kept, left = [], longest
    for context in contexts:
        if left <= 0:
            break
        kept.append(context[:left])
        left -= len(context)
    return tuple(one for one in kept if one.strip())


def content_words(text: str, language: str) -> frozenset[str]:
    return frozenset(extract_terms(text, language))


def best_overlap(words: frozenset[str], places: Sequence[frozenset[str]]) -> float:
    """The largest share of a statement's words that one place has; 0 for a statement without such words."""
    return max((len(words & place) / len(words) for place in places), default=0.0) if words else 0.0


def clamp(score: float) -> float:
    """Between 0 and 1: a cosine may be below, and rounding above."""
    return min(1.0, max(0.0, score))


def averages(measured: Sequence[Sequence[Measure]]) -> tuple[Measure, ...]:
    """By metric, over those that have it."""
    scores: dict[Metric, list[float]] = {}
    for measures in measured:
        for measure in measures:
            scores.setdefault(measure.metric, []).append(measure.score)
    return tuple(Measure(metric, sum(values) / len(values)) for metric, values in scores.items())


ESTIMATES = frozenset({Metric.SUPPORT_ESTIMATE, Metric.RELEVANCE_ESTIMATE})


@dataclass(frozen=True)
class SubjectScore:
    """One score of one text."""

    subject_id: int
    metric: str
    score: float
    evaluator: str

    @property
    def is_estimate(self) -> bool:
        return self.metric in ESTIMATES


@dataclass(frozen=True)
class ScoreLine:
    """The average of one day, for what one model wrote to one prompt."""

    day: Annotated[date, Field(description="A day of UTC.")]
    kind: SubjectKind
    metric: Annotated[str, Field(description="faithfulness, answer_relevancy; estimates end in _estimate.")]
    evaluator: str
    model: Annotated[str, Field(description="The model that wrote the text.")]
    prompt_version: str
    score: Annotated[float, Field(description="The average of the day, from 0 to 1.")]
    count: int


@dataclass(frozen=True)
class Spot:
    """A day's average in the picture, in its units."""

    x: float
    y: float
    line: ScoreLine


@dataclass(frozen=True)
class Curve:
    """What one model wrote to one prompt, over the days; in all pictures its `number` is the same."""

    number: int
    model: str
    prompt_version: str
    evaluator: str
    spots: tuple[Spot, ...]
    average: float
    count: int

    @property
    def points(self) -> str:
        return " ".join(f"{spot.x:g},{spot.y:g}" for spot in self.spots)


@dataclass(frozen=True)
class Picture:
    """One metric of one kind of text."""

    kind: SubjectKind
    metric: str
    curves: tuple[Curve, ...]
    first: date
    last: date

    @property
    def is_estimate(self) -> bool:
        return self.metric in ESTIMATES


@dataclass(frozen=True)
class ScoresView:
    """`enabled` tells whether new texts are judged now, `evaluator` by whom."""

    lines: tuple[ScoreLine, ...]
    pictures: tuple[Picture, ...]
    enabled: bool
    evaluator: str
    days: int


# The picture's own units; the page makes it as wide as there is room.
WIDTH, HEIGHT = 100.0, 100.0
MOST_CURVES = 6


def pictures(lines: Sequence[ScoreLine], first: date, last: date) -> tuple[Picture, ...]:
    """Kinds and metrics in the order of their names, what a model judged before what is estimated."""
    groups: dict[tuple[SubjectKind, str], list[ScoreLine]] = {}
    for line in lines:
        groups.setdefault((line.kind, line.metric), []).append(line)
    # Who wrote first is the first: the same colour everywhere.
    writers = list(dict.fromkeys((line.model, line.prompt_version) for line in sorted(lines, key=lambda one: one.day)))
    order = sorted(groups, key=lambda key: (list(SubjectKind).index(key[0]), key[1] in ESTIMATES, key[1]))
    return tuple(Picture(*key, _curves(groups[key], writers, first, last), first, last) for key in order)


def _curves(
    lines: Sequence[ScoreLine], writers: Sequence[tuple[str, str]], first: date, last: date
) -> tuple[Curve, ...]:
    """Those with most texts, in the order in which they began."""
    groups: dict[tuple[str, str, str], list[ScoreLine]] = {}
    for line in sorted(lines, key=lambda line: line.day):
        groups.setdefault((line.model, line.prompt_version, line.evaluator), []).append(line)
    most = sorted(groups, key=lambda key: -sum(line.count for line in groups[key]))[:MOST_CURVES]
    chosen = sorted((key for key in groups if key in most), key=lambda key: writers.index(key[:2]))
    numbers = {key: writers.index(key[:2]) % MOST_CURVES + 1 for key in chosen}
    return tuple(_curve(numbers[key], *key, groups[key], first, last) for key in chosen)


def _curve(
    number: int, model: str, version: str, evaluator: str, lines: Sequence[ScoreLine], first: date, last: date
) -> Curve:
    whole = max(1, (last - first) // timedelta(days=1))
    spots = tuple(
        Spot(
            round(WIDTH * ((line.day - first) // timedelta(days=1)) / whole, 1),
            round(HEIGHT * (1 - line.score), 1),
            line,
        )
        for line in lines
    )
    count = sum(line.count for line in lines)
    average = sum(line.score * line.count for line in lines) / count
    return Curve(number, model, version, evaluator, spots, average, count)
