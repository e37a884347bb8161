"""Stand-ins for research: runs in memory, a small library, and a model whose answers come from the simulated one."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from pressbox.core.errors import NotFoundError, PermanentError, PressboxError, UnusableAnswerError
from pressbox.core.models.client import OnText, Question, Reply
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.research.activities import ResearchActivities
from pressbox.curator.research.domain import (
    Limits,
    Link,
    ResearchMethod,
    ResearchState,
    Run,
    Source,
    Step,
    StepKind,
    StepState,
)
from pressbox.curator.research.ports import Draft, Researcher
from pressbox.curator.research.researchers import ModelResearcher, OfflineResearcher
from pressbox.curator.search.domain.passages import FoundBy, Passage
from pressbox.curator.text.sentences import extract_terms
from pressbox.demo.simulators.model import ModelRequest, Script, count_tokens
from pressbox.demo.simulators.research_script import ResearchScript

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
READER = 7
# Ids are parts of workflow ids, and all tests share one server.
_numbers = count(secrets.randbelow(10**6) * 1000)


@dataclass
class FakeArticle:
    entry_id: int
    title: str
    text: str
    url: str
    readers: tuple[int, ...] = (READER,)
    links: list[Link] = field(default_factory=list)


@dataclass
class FakeRuns:
    """Runs and their steps, as the store keeps them. `seen` is every state that a page could have shown."""

    runs: dict[int, Run] = field(default_factory=dict)
    seen: list[tuple[str, str]] = field(default_factory=list)

    async def create(self, draft: Draft, now: datetime) -> int:
        number = next(_numbers)
        self.runs[number] = Run(number, draft.user_id, draft.question, ResearchState.QUEUED, draft.limits, now)
        return number

    async def list_newest(self, user_id: int, limit: int) -> Sequence[Run]:
        return [run for run in self.runs.values() if run.user_id == user_id][::-1][:limit]

    async def load_own(self, user_id: int, run_id: int) -> Run:
        run = self.runs.get(run_id)
        if run is None or run.user_id != user_id:
            raise NotFoundError("There is no such research of yours.")
        return run

    async def delete(self, user_id: int, run_id: int) -> None:
        self.runs.pop(run_id, None)

    async def set_state(
        self, run_id: int, state: ResearchState, reason: str, *, unless: Sequence[ResearchState] = ()
    ) -> bool:
        run = self.runs.get(run_id)
        if run is None or run.state in unless:
            return False
        self.runs[run_id] = replace(run, state=state, reason=reason)
        self.seen.append((state, reason))
        return True

    async def run(self, run_id: int) -> Run | None:
        return self.runs.get(run_id)

    async def open(self, run_id: int, method: ResearchMethod, model: str) -> Run | None:
        if run_id not in self.runs:
            return None
        await self.set_state(run_id, ResearchState.RUNNING, "", unless=(ResearchState.DONE,))
        self.runs[run_id] = replace(self.runs[run_id], method=method, model=model)
        return self.runs[run_id]

    async def begin(self, run_id: int, step: Step, now: datetime) -> None:
        idle = (ResearchState.QUEUED, ResearchState.WAITING)
        others = tuple(state for state in ResearchState if state not in idle)
        await self.set_state(run_id, ResearchState.RUNNING, "", unless=others)
        self._write(run_id, replace(step, state=StepState.RUNNING, at=now))

    async def finish(self, run_id: int, steps: Sequence[Step], seconds: float, now: datetime) -> None:
        for step in steps:
            self._write(run_id, replace(step, at=now))
        self._spend(run_id, sum(step.tokens for step in steps), seconds)

    async def save_report(
        self, run_id: int, report: str, sources: Sequence[Source], step: Step, seconds: float, now: datetime
    ) -> None:
        await self.finish(run_id, (step,), seconds, now)
        done = replace(self.runs[run_id], state=ResearchState.DONE, report=report, sources=tuple(sources))
        self.runs[run_id] = replace(done, reason=step.outcome.reason, finished_at=now)

    async def wait(self, run_id: int, reason: str, seconds: float) -> None:
        stands = (ResearchState.STOPPING, ResearchState.STOPPED, ResearchState.DONE)
        await self.set_state(run_id, ResearchState.WAITING, reason, unless=stands)
        self._spend(run_id, 0, seconds)

    async def close(self, run_id: int, state: ResearchState, reason: str, seconds: float, now: datetime) -> None:
        await self.set_state(run_id, state, reason, unless=(ResearchState.DONE,))
        self._spend(run_id, 0, seconds)

    def _write(self, run_id: int, step: Step) -> None:
        run = self.runs.get(run_id)
        if run is not None:
            others = [one for one in run.steps if one.position != step.position]
            self.runs[run_id] = replace(run, steps=tuple(sorted((*others, step), key=lambda one: one.position)))

    def _spend(self, run_id: int, tokens: int, seconds: float) -> None:
        run = self.runs.get(run_id)
        if run is not None:
            self.runs[run_id] = replace(run, tokens=run.tokens + tokens, seconds=seconds)


class FakeLedgerModel:
    """A model that is paid once for each question. `away` is raised instead of an answer, as long as it is set."""

    name = "simulated-model"

    def __init__(self, script: Script) -> None:
        self.script = script
        self.away: PressboxError | None = None
        self.hold: asyncio.Event | None = None
        self.asked: list[Question] = []
        self.nonsense = 0
        self._known: dict[tuple[str, str], str] = {}

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        key = (question.content_hash, question.prompt_version)
        if key in self._known:
            return Reply(self._known[key], self.name, bought=False)
        if self.away is not None:
            raise self.away
        self.asked.append(question)
        if self.hold is not None:
            await self.hold.wait()
        said = self.script(ModelRequest(self.name, (question.instructions, question.material), ()))
        if self.nonsense:
            self.nonsense -= 1
            said = "Certainly! Here is what I think."
        if not usable(said):
            raise UnusableAnswerError("It cannot be used.")
        self._known[key] = said
        return Reply(said, self.name, count_tokens(question.instructions, question.material), count_tokens(said))


@dataclass
class FakeResearchWorld:
    """A reader, some articles, and a researcher on them."""

    script: Script = field(default_factory=ResearchScript)
    offline: bool = False
    articles: list[FakeArticle] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    runs: FakeRuns = field(default_factory=FakeRuns)

    def __post_init__(self) -> None:
        self.paid = FakeLedgerModel(self.script)

    def article(self, title: str, text: str, **values: Any) -> FakeArticle:
        number = len(self.articles) + 1
        made = FakeArticle(number, title, text, f"https://example.org/{number}", **values)
        self.articles.append(made)
        return made

    async def start(self, question: str, **limits: Any) -> int:
        return await self.runs.create(Draft(READER, question, Limits(**limits)), NOW)

    def run(self, run_id: int) -> Run:
        return self.runs.runs[run_id]

    def steps(self, run_id: int) -> list[tuple[StepKind, StepState]]:
        return [(step.kind, step.state) for step in self.run(run_id).steps]

    async def find(
        self, user_id: int, question: str, *, entry_id: int | None = None, limit: int = 8, relevant_only: bool = False
    ) -> Sequence[Passage]:
        self.searched.append(question)
        wanted = set(extract_terms(question, "en"))
        found = [
            (len(wanted & set(extract_terms(article.text, "en"))), article)
            for article in self.articles
            if user_id in article.readers
        ]
        best = sorted((one for one in found if one[0]), key=lambda one: (-one[0], one[1].entry_id))
        return [_passage(article, shared) for shared, article in best[:limit]]

    async def text(self, user_id: int, entry_id: int) -> str:
        return next((one.text for one in self.articles if one.entry_id == entry_id and user_id in one.readers), "")

    async def links(self, user_id: int, entry_ids: Sequence[int]) -> Sequence[Link]:
        return [link for one in self.articles if one.entry_id in entry_ids for link in one.links]

    @property
    def researcher(self) -> Researcher:
        return OfflineResearcher() if self.offline else ModelResearcher(self.paid)

    def activities(self) -> ResearchActivities:
        return ResearchActivities(self.runs, self, self, self.researcher, FakePages(self))


class FakePages:
    def __init__(self, world: FakeResearchWorld) -> None:
        self._world = world

    async def text(self, url: str, policy: CuratorPolicy) -> str:
        self._world.fetched.append(url)
        if url not in self._world.pages:
            raise PermanentError("The page is not there (404).")
        return self._world.pages[url]


def _passage(article: FakeArticle, score: int) -> Passage:
    end = min(len(article.text), 200)
    return Passage(
        entry_id=article.entry_id,
        feed_id=1,
        title=article.title,
        feed_title="The Example",
        url=article.url,
        published_at=NOW,
        start=0,
        end=end,
        text=article.text[:end],
        score=float(score),
        found_by=(FoundBy.FULL_TEXT,),
    )
