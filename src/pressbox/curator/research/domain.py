"""Research: its limits, its steps in order, what they found, and the sources that its report cites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pressbox.curator.context.domain import entity_key
from pressbox.curator.library.urls import canonical_url, site_name
from pressbox.curator.search.domain.passages import Passage

LONGEST_QUESTION = 500
MOST_QUESTIONS = 4
READ_PER_ROUND = 4
LINKS_PER_ROUND = 2
# What the report needs is kept back, so that it can still be written when the bound is reached.
MOST_KEPT_BACK = 8_000
_ROUND_SIZE = 100
_SEARCHES_FROM, _CHOICE, _READS_FROM, _CHECK = 0, 10, 11, 99
_WRITE = 1_000_000


class ResearchState(StrEnum):
    """QUEUED: nothing has begun. STOPPING: the present step is the last one."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DONE = "done"
    FAILED = "failed"

    @property
    def unfinished(self) -> bool:
        """Whether it may change by itself."""
        return self not in (ResearchState.STOPPED, ResearchState.DONE, ResearchState.FAILED)


class ResearchMethod(StrEnum):
    """EXTRACTS: no model took part; the report is what articles say, word for word."""

    LLM = "llm"
    EXTRACTS = "extracts"


class StepKind(StrEnum):
    PLAN = "plan"
    SEARCH = "search"
    CHOOSE = "choose"
    READ = "read"
    CHECK = "check"
    WRITE = "write"


class StepState(StrEnum):
    """PLANNED: it will be done. RUNNING: it was begun, and is done again after a crash. SKIPPED says why."""

    PLANNED = "planned"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"

    @property
    def over(self) -> bool:
        return self in (StepState.DONE, StepState.SKIPPED)


class EndedBy(StrEnum):
    """What ended the rounds. Whatever it was, the report is written of what is there, and says so."""

    ANSWERED = "answered"
    NOTHING_NEW = "nothing new"
    ROUNDS = "rounds"
    TOKENS = "tokens"
    TIME = "time"


@dataclass(frozen=True)
class Span:
    start: int
    end: int


@dataclass(frozen=True)
class Limits:
    """`links`: also read pages that the articles link to."""

    rounds: int = 3
    tokens: int = 60_000
    minutes: float = 20.0
    links: bool = False


@dataclass(frozen=True)
class Link:
    """One that the text of an entry has, as it was stored."""

    entry_id: int
    url: str
    title: str = ""


@dataclass(frozen=True)
class Material:
    """What is read: an article of the person's, or with `link` a page that it links to."""

    title: str
    url: str
    entry_id: int
    feed_id: int
    feed_title: str = ""
    published_at: datetime | None = None
    link: bool = False

    @property
    def key(self) -> str:
        return self.url if self.link else str(self.entry_id)


@dataclass(frozen=True)
class Note:
    """`quote` stands word for word in the material; of an article `start` and `end` are where."""

    claim: str
    quote: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class LeftOut:
    title: str
    reason: str


@dataclass(frozen=True)
class Outcome:
    """What came of a step; each kind fills its own part.

    `questions`: what a plan asks, or a check asks further. `passages`: what a search found. `left_out`: what a choice
    left. `material`, `spans` and `notes`: what is read, which places of it were found, and what was noted.
    """

    questions: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    material: Material | None = None
    spans: tuple[Span, ...] = ()
    notes: tuple[Note, ...] = ()
    ended_by: EndedBy | None = None
    reason: str = ""


@dataclass(frozen=True)
class Step:
    position: int
    round: int
    kind: StepKind
    title: str
    state: StepState
    outcome: Outcome = Outcome()
    tokens: int = 0
    at: datetime | None = None


@dataclass(frozen=True)
class Quote:
    text: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Source:
    """What the report cites as [number]."""

    number: int
    material: Material
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True)
class Run:
    """A run with all its steps. `seconds` is the time that it worked, without waiting and standing still."""

    id: int
    user_id: int
    question: str
    state: ResearchState
    limits: Limits
    created_at: datetime
    method: str = ""
    model: str = ""
    tokens: int = 0
    seconds: float = 0.0
    report: str = ""
    sources: tuple[Source, ...] = ()
    reason: str = ""
    finished_at: datetime | None = None
    steps: tuple[Step, ...] = ()

    def step(self, position: int) -> Step | None:
        return next((step for step in self.steps if step.position == position), None)

    def of(self, kind: StepKind, round: int | None = None) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.kind is kind and round in (None, step.round))


def plan_position() -> int:
    return 0


def search_position(round: int, number: int) -> int:
    return round * _ROUND_SIZE + _SEARCHES_FROM + number


def choice_position(round: int) -> int:
    return round * _ROUND_SIZE + _CHOICE


def read_position(round: int, number: int) -> int:
    return round * _ROUND_SIZE + _READS_FROM + number


def check_position(round: int) -> int:
    return round * _ROUND_SIZE + _CHECK


def write_position() -> int:
    return _WRITE


def report_reserve(tokens: int) -> int:
    """Of the bound, for the report."""
    return min(tokens // 4, MOST_KEPT_BACK)


def bound_reached(limits: Limits, tokens: int, worked: timedelta) -> EndedBy | None:
    """Whether searching and reading has to end now."""
    if tokens >= limits.tokens - report_reserve(limits.tokens):
        return EndedBy.TOKENS
    if worked >= timedelta(minutes=limits.minutes):
        return EndedBy.TIME
    return None


def questions_of(run: Run, round: int) -> tuple[str, ...]:
    """What is searched for in a round: first what the plan asks, then what the check before it still misses."""
    before = run.step(plan_position() if round == 1 else check_position(round - 1))
    return before.outcome.questions if before is not None else ()


def questions_asked(run: Run) -> tuple[str, ...]:
    return tuple(dict.fromkeys(step.title for step in run.of(StepKind.SEARCH)))


def usable_questions(found: Sequence[str], known: Sequence[str], limit: int = MOST_QUESTIONS) -> tuple[str, ...]:
    """Each once, none that was asked already, and of a length that can be searched for."""
    seen, questions = {entity_key(question) for question in known}, []
    for raw in found:
        question = " ".join("".join(one if one.isprintable() else " " for one in raw).split())[:LONGEST_QUESTION]
        if entity_key(question) and entity_key(question) not in seen:
            seen.add(entity_key(question))
            questions.append(question)
    return tuple(questions[:limit])


@dataclass(frozen=True)
class Choice:
    """What a round reads, each with the places that were found in it, and what it leaves out."""

    reads: tuple[tuple[Material, tuple[Span, ...]], ...]
    left_out: tuple[LeftOut, ...]


ALREADY_READ = "read already"
FULL = "enough for this round"
SAME_STORY = "the same article from another source"


def choose_articles(
    found: Sequence[Sequence[Passage]],
    known: Sequence[Material],
    earlier: Sequence[Sequence[Passage]] = (),
    limit: int = READ_PER_ROUND,
) -> Choice:
    """Of what the searches found, in turns, so that each question has its best articles read.

    Where there is room, what `earlier` rounds found and had no room for.
    """
    places: dict[int, list[Passage]] = {}
    for passage in _interleave(found):
        places.setdefault(passage.entry_id, []).append(passage)
    fresh = set(places)
    for passage in _interleave(earlier):
        places.setdefault(passage.entry_id, []).append(passage)
    read = {material.key for material in known}
    addresses = {canonical_url(material.url) for material in known if material.url}
    reads: list[tuple[Material, tuple[Span, ...]]] = []
    left_out: list[LeftOut] = []
    for passages in places.values():
        material = material_from(passages[0])
        reason = _reason_to_skip(material, read, addresses, len(reads) >= limit)
        if reason:
            if material.entry_id in fresh:
                left_out.append(LeftOut(material.title, reason))
            continue
        addresses.add(canonical_url(material.url))
        spans = sorted({(passage.start, passage.end) for passage in passages})
        reads.append((material, tuple(Span(start, end) for start, end in spans)))
    return Choice(tuple(reads), tuple(left_out))


def choose_links(links: Sequence[Link], known: Sequence[Material], words: Mapping[str, float]) -> tuple[Material, ...]:
    """Pages whose links speak of what is asked, those that share most words first; none that was read."""
    by_entry = {material.entry_id: material for material in known if not material.link}
    read = {material.url for material in known}
    scored = sorted(
        ((_overlap(link, words), -place, link) for place, link in enumerate(links) if link.url not in read),
        reverse=True,
    )
    found: dict[str, Material] = {}
    for score, _, link in scored:
        entry = by_entry.get(link.entry_id)
        if score > 0 and entry is not None and link.url not in found:
            title = " ".join(link.title.split()) or site_name(link.url)
            found[link.url] = Material(title, link.url, link.entry_id, entry.feed_id, entry.feed_title, link=True)
    return tuple(found.values())[:LINKS_PER_ROUND]


def material_from(passage: Passage) -> Material:
    return Material(
        passage.title, passage.url, passage.entry_id, passage.feed_id, passage.feed_title, passage.published_at
    )


def collect_sources(run: Run) -> tuple[Source, ...]:
    """Numbered in the order in which they were read; only those of which something was noted."""
    noted = [step.outcome for step in run.of(StepKind.READ) if step.outcome.notes and step.outcome.material]
    return tuple(
        Source(number, outcome.material, tuple(Quote(note.quote, note.start, note.end) for note in outcome.notes))
        for number, outcome in enumerate(noted, start=1)
        if outcome.material is not None
    )


def collect_notes(run: Run) -> tuple[tuple[Source, tuple[Note, ...]], ...]:
    noted = [step.outcome.notes for step in run.of(StepKind.READ) if step.outcome.notes and step.outcome.material]
    return tuple(zip(collect_sources(run), noted, strict=True))


def _interleave(found: Sequence[Sequence[Passage]]) -> list[Passage]:
    longest = max((len(passages) for passages in found), default=0)
    return [passages[place] for place in range(longest) for passages in found if place < len(passages)]


def _reason_to_skip(material: Material, read: set[str], addresses: set[str], full: bool) -> str:
    if material.key in read:
        return ALREADY_READ
    if material.url and canonical_url(material.url) in addresses:
        return SAME_STORY
    return FULL if full else ""


def _overlap(link: Link, words: Mapping[str, float]) -> float:
    said = f"{link.title} {link.url}".casefold()
    return sum(weight for word, weight in words.items() if word in said)
