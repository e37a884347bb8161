"""What research needs: where runs are stored, who plans, reads and writes, and what it may read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.core.errors import TransientError
from pressbox.curator.articles.domain import Extractor, PageReader
from pressbox.curator.ingest.fetcher import HostRateLimiter
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.research.domain import (
    Limits,
    Link,
    Material,
    Note,
    ResearchMethod,
    ResearchState,
    Run,
    Source,
    Span,
    Step,
)


@dataclass(frozen=True)
class ResearcherReply:
    """What a researcher found, and what it cost. Not `usable` after two wrong answers; `reason` says so."""

    questions: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    text: str = ""
    tokens: int = 0
    usable: bool = True
    reason: str = ""


class Researcher(Protocol):
    """A model, or rules. A model that is away raises, see `models.ports.PaidModel`."""

    @property
    def method(self) -> ResearchMethod: ...

    @property
    def model(self) -> str: ...

    async def plan(self, user_id: int, question: str) -> ResearcherReply:
        """Questions to search for."""
        ...

    async def read(
        self, question: str, asked: Sequence[str], material: Material, text: str, spans: Sequence[Span]
    ) -> ResearcherReply:
        """Notes, each with a quote that stands in the text."""
        ...

    async def check(
        self, question: str, asked: Sequence[str], noted: Sequence[tuple[Source, tuple[Note, ...]]]
    ) -> ResearcherReply:
        """What is still to be asked; nothing when it is answered."""
        ...

    async def write(
        self, question: str, noted: Sequence[tuple[Source, tuple[Note, ...]]], most_tokens: int
    ) -> ResearcherReply:
        """A text that cites its sources as [1]."""
        ...


@dataclass(frozen=True)
class Draft:
    """A run to be created."""

    user_id: int
    question: str
    limits: Limits


class ResearchRuns(Protocol):
    """Runs as their owners see them. A run of another person is a NotFoundError."""

    async def create(self, draft: Draft, now: datetime) -> int: ...

    async def list_newest(self, user_id: int, limit: int) -> Sequence[Run]:
        """The newest first, without their steps and reports."""
        ...

    async def load_own(self, user_id: int, run_id: int) -> Run: ...

    async def delete(self, user_id: int, run_id: int) -> None: ...

    async def set_state(
        self, run_id: int, state: ResearchState, reason: str, *, unless: Sequence[ResearchState] = ()
    ) -> bool:
        """False when there is no such run, or it is in one of the states of `unless`."""
        ...


class ResearchSteps(Protocol):
    """Runs as their activities write them. A deleted run ignores writes."""

    async def run(self, run_id: int) -> Run | None: ...

    async def open(self, run_id: int, method: ResearchMethod, model: str) -> Run | None:
        """Mark the run as running, and load it."""
        ...

    async def begin(self, run_id: int, step: Step, now: datetime) -> None:
        """Mark a step as running, perhaps once more."""
        ...

    async def finish(self, run_id: int, steps: Sequence[Step], seconds: float, now: datetime) -> None:
        """Store steps with what they cost, in one transaction."""
        ...

    async def save_report(
        self, run_id: int, report: str, sources: Sequence[Source], step: Step, seconds: float, now: datetime
    ) -> None:
        """Store the report and its step; the run is done."""
        ...

    async def wait(self, run_id: int, reason: str, seconds: float) -> None:
        """Mark the run as waiting for a model, unless it is being stopped."""
        ...

    async def close(self, run_id: int, state: ResearchState, reason: str, seconds: float, now: datetime) -> None:
        """End the run in this state, unless it is done."""
        ...


class Readings(Protocol):
    """What a person may read."""

    async def text(self, user_id: int, entry_id: int) -> str:
        """The text of an entry; empty when there is none, or it is not the person's."""
        ...

    async def links(self, user_id: int, entry_ids: Sequence[int]) -> Sequence[Link]: ...


class Neighbours(Protocol):
    async def near(self, user_id: int, names: Sequence[str], limit: int) -> Sequence[str]:
        """Names of entities that the graph has beside these."""
        ...


class LinkedPages(Protocol):
    async def text(self, url: str, policy: CuratorPolicy) -> str:
        """The article on a page. What cannot be read is a PermanentError, what cannot be had now a TransientError."""
        ...


class ResearchWorkflows(Protocol):
    async def start_run(self, run_id: int) -> str:
        """Start a run, or go on with it."""
        ...

    async def stop(self, run_id: int) -> bool:
        """False when nothing is running."""
        ...

    async def cancel(self, run_id: int) -> None: ...


class GuardedLinkedPages:
    def __init__(self, reader: PageReader, extractor: Extractor, rate_limiter: HostRateLimiter) -> None:
        self._reader = reader
        self._extractor = extractor
        self._rate_limiter = rate_limiter

    async def text(self, url: str, policy: CuratorPolicy) -> str:
        if await self._rate_limiter.wait(url, policy.host_delay) is not None:
            raise TransientError("This host asked for a pause.")
        page = await self._reader.read(url, policy.page_bytes)
        return (await self._extractor.extract(page, ())).text
