"""Stand-ins for asking: an embedder that knows a few subjects, a desk, a retriever and a model in memory."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sqlalchemy import update

from pressbox.core.errors import PressboxError, TransientError, UnusableAnswerError
from pressbox.core.models.client import OnText, Question, Reply
from pressbox.curator.ask.domain import AnswerState, AnswerTask, Ending, Turn
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.curator.search.domain.passages import FoundBy, Passage
from pressbox.curator.search.ports import IndexDocument
from tests.fakes.reader import MODEL, NOW, Library

SUBJECTS = (
    ("bridge", "bridges", "brücke", "river", "crossing", "fluss"),
    ("cake", "oven", "eggs", "baking", "kuchen"),
    ("volcano", "lava", "eruption", "vulkan"),
)


class SubjectEmbedder:
    """One number for each subject: whoever speaks of crossings is near to whoever speaks of bridges."""

    model = MODEL

    def __init__(self) -> None:
        self.away = False

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if self.away:
            raise TransientError("The embedding model is away.")
        return [meaning(text) for text in texts]


def meaning(text: str) -> list[float]:
    said = text.lower()
    return [0.05 + sum(said.count(word) for word in words) for words in SUBJECTS]


async def written(
    library: Library, feed_id: int, title: str, text: str, *, vector: bool = True, story: str = "", body: str = ""
) -> IndexDocument:
    """An entry with this text, as ingestion leaves it, and its document for the index."""
    entry_id = await library.entry(
        feed_id, title, vector=meaning(text) if vector else None, story=story, body=f"<p>{body or text}</p>", summary=""
    )
    async with library.database.unit_of_work() as work:
        await work.session.execute(
            update(EntryBodyRow).where(EntryBodyRow.entry_id == entry_id).values(filtered_content=text)
        )
        await work.session.execute(update(EntryRow).where(EntryRow.id == entry_id).values(content_hash=f"of {title}"))
    return IndexDocument(entry_id, feed_id, title, "", text, "", "", NOW)


def passage(number: int = 1, text: str = "The old bridge is closed.") -> Passage:
    return Passage(
        entry_id=number,
        feed_id=7,
        title=f"Article {number}",
        feed_title="The Herald",
        url=f"https://example.org/{number}",
        published_at=datetime(2026, 3, number, tzinfo=UTC),
        start=0,
        end=len(text),
        text=text,
        score=1.0,
        found_by=(FoundBy.FULL_TEXT,),
    )


@dataclass
class FakeAnswers:
    """One answer. `texts` are all that were saved of it, in order."""

    question: str = "Is the bridge closed?"
    entry_id: int | None = None
    turns: tuple[Turn, ...] = ()
    state: AnswerState = AnswerState.SEARCHING
    passages: tuple[Passage, ...] = ()
    texts: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    ending: Ending | None = None
    gone: bool = False

    async def load_task(self, answer_id: int) -> AnswerTask | None:
        if self.gone:
            return None
        return AnswerTask(answer_id, 1, self.entry_id, self.question, self.state, self.passages, self.turns)

    async def save_passages(self, answer_id: int, passages: Sequence[Passage]) -> bool:
        self.passages = tuple(passages)
        return self.state.is_open

    async def save_text(self, answer_id: int, text: str) -> bool:
        if self.state.is_open:
            self.state = AnswerState.WRITING
            self.texts.append(text)
        return self.state.is_open

    async def wait(self, answer_id: int, reason: str) -> bool:
        if self.state.is_open:
            self.state = AnswerState.WAITING
            self.reasons.append(reason)
        return self.state.is_open

    async def finish(self, answer_id: int, ending: Ending, now: datetime) -> bool:
        if not self.state.is_open:
            return False
        self.state, self.ending = ending.state, ending
        return True


@dataclass
class FakeRetriever:
    passages: Sequence[Passage] = field(default_factory=lambda: [passage(1), passage(2, "Repairs take a year.")])
    asked: list[tuple[int, str, int | None]] = field(default_factory=list)
    error: PressboxError | None = None
    relevant_only: bool | None = None

    async def find(
        self, user_id: int, question: str, *, entry_id: int | None = None, limit: int = 8, relevant_only: bool = False
    ) -> Sequence[Passage]:
        self.asked.append((user_id, question, entry_id))
        self.relevant_only = relevant_only
        if self.error is not None:
            raise self.error
        return self.passages[:limit]


class FakeModel:
    """Says `pieces` one after the other; `during` runs after the first of them."""

    name = "fake-model"

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces or ("It is closed", " [1]. Repairs take a year", " [2].")
        self.questions: list[Question] = []
        self.down: PressboxError | None = None
        # After so many questions it is there again.
        self.up_after: int | None = None
        self.hold: asyncio.Event | None = None
        self.during: Callable[[], None] = lambda: None

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        self.questions.append(replace(question))
        if self.down is not None and (self.up_after is None or len(self.questions) <= self.up_after):
            raise self.down
        said = ""
        for piece in self.pieces:
            said += piece
            if on_text is not None:
                await on_text(said)
            self.during()
            if self.hold is not None:
                await self.hold.wait()
        if not usable(said):
            raise UnusableAnswerError("Nothing of use.")
        return Reply(said, self.name, 10, 10)


@dataclass
class StartedAnswers:
    """Which answers were begun and stopped; `away` as when Temporal is down."""

    started: list[int] = field(default_factory=list)
    stopped: list[int] = field(default_factory=list)
    away: bool = False

    async def start_answer(self, answer_id: int) -> str:
        if self.away:
            raise TransientError("Temporal does not answer.")
        self.started.append(answer_id)
        return f"answer-{answer_id}"

    async def stop_answer(self, answer_id: int) -> None:
        if self.away:
            raise TransientError("Temporal does not answer.")
        self.stopped.append(answer_id)
