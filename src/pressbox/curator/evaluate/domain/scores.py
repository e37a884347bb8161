"""Scores over time: lines per model and prompt, and their places in a plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

from pydantic import Field

from pressbox.curator.evaluate.domain.evaluation import Metric, SubjectKind

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
