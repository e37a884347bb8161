"""Questions and their answers, as people see them and as the work on them does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from pressbox.curator.search.domain.passages import Passage

LONGEST_TITLE = 80


class AnswerState(StrEnum):
    SEARCHING = "searching"
    WRITING = "writing"
    WAITING = "waiting"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def is_open(self) -> bool:
        """The answer is being worked on, or will be."""
        return self in OPEN


OPEN = frozenset({AnswerState.SEARCHING, AnswerState.WRITING, AnswerState.WAITING})


class AnswerMethod(StrEnum):
    """PASSAGES: no model is configured, or nothing was found; the passages are the answer."""

    MODEL = "llm"
    PASSAGES = "passages"


@dataclass(frozen=True)
class Turn:
    """A question of the conversation with what was answered."""

    question: str
    answer: str


@dataclass(frozen=True)
class AnswerTask:
    """What it takes to answer. `turns` are the finished questions before, oldest first."""

    answer_id: int
    user_id: int
    entry_id: int | None
    question: str
    state: AnswerState
    passages: tuple[Passage, ...] = ()
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class AnswerView:
    id: int
    conversation_id: int
    question: str
    state: AnswerState
    method: Annotated[AnswerMethod | None, Field(description="llm, or passages when these are the answer.")]
    model: str
    text: Annotated[str, Field(description="With [n] for the passages it is based on, counted from one.")]
    passages: Sequence[Passage]
    reason: Annotated[str, Field(description="Why it waits or failed.")]
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class ConversationLine:
    """One line of the history."""

    id: int
    title: str
    entry_id: int | None
    entry_title: str
    updated_at: datetime
    questions: int


@dataclass(frozen=True)
class ConversationView(ConversationLine):
    answers: Sequence[AnswerView]


@dataclass(frozen=True)
class Ending:
    """How an answer ended."""

    state: AnswerState
    method: AnswerMethod | None = None
    text: str = ""
    reason: str = ""
    model: str = ""
    prompt_version: str = ""
    trace_id: str = ""


def title_of(question: str) -> str:
    """The name of a conversation until somebody renames it: its first question."""
    said = " ".join(question.split())
    return said if len(said) <= LONGEST_TITLE else said[: LONGEST_TITLE - 1].rstrip() + "…"
