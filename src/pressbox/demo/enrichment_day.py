"""What a reader does with articles besides reading: translate, look up, ask and research; and what it costs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import httpx

from pressbox.core.errors import TransientError
from pressbox.demo.news.library import article
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.stage import Finding, Stage

LOOK_SECONDS = 1.0
SETTLE = timedelta(seconds=240)
# Two German articles, translated into English; the provider of the second one has no quota left.
TRANSLATED, OVER_QUOTA = "moor-wiedervernaessung", "stadtbibliothek-nachts"
LANGUAGE = "en"
SOFTWARE = "lanternfish-tide-gauges"
REPOSITORY = "lanternfish-db/lanternfish"
SLOW_SECONDS = 2.0
QUESTION = "When does the night ferry leave the harbour?"
FOLLOW_UP = "And who travels on it?"
RESEARCHED = "What do people repair or keep by hand, and why?"


class Reader(Protocol):
    """The trusted user of the open mode, through the API."""

    async def get(self, path: str, **query: str | int) -> Any: ...

    async def post(self, path: str, **body: object) -> Any: ...

    async def entries(self, **query: str | int) -> list[dict[str, Any]]: ...


async def play_enrichments(stage: Stage, reader: Reader) -> tuple[Finding, ...]:
    """Use every provider: one is over its quota and one is slow, and neither delays the others."""
    return await _Enrichments(stage, reader).run()


class _Enrichments:
    def __init__(self, stage: Stage, reader: Reader) -> None:
        self._stage = stage
        self._reader = reader

    async def run(self) -> tuple[Finding, ...]:
        world = self._stage.world
        world.microsoft.characters_left = 0
        world.github.tell(f"repos/{REPOSITORY}", Kind.SLOW, seconds=SLOW_SECONDS)
        entries = {entry["title"]: entry["id"] for entry in await self._reader.entries(view="all")}
        numbers = {slug: entries[article(slug).title] for slug in (TRANSLATED, OVER_QUOTA, SOFTWARE)}
        await self._reader.post(f"/entries/{numbers[OVER_QUOTA]}/translation", language=LANGUAGE, provider="microsoft")
        await self._reader.post("/graph/update")
        found = await asyncio.gather(
            self._translate(numbers[TRANSLATED]), self._look_up(numbers[SOFTWARE]), self._ask_twice(), self._research()
        )
        graph = await self._until(lambda: self._reader.get("/graph/state"), lambda state: not state["waiting"])
        costs = await self._reader.get("/costs")
        over = await self._reader.get(f"/entries/{numbers[OVER_QUOTA]}/translation", language=LANGUAGE)
        return (
            *found,
            Finding(name="translations over the quota", expected=0, found=int(over["state"] == "complete")),
            Finding(name="articles missing in the graph", expected=0, found=graph["waiting"]),
            Finding(name="purposes that cost something", expected=3, found=_count_purposes(costs)),
        )

    async def _translate(self, entry_id: int) -> Finding:
        await self._reader.post(f"/entries/{entry_id}/translation", language=LANGUAGE)
        done = await self._until(
            lambda: self._reader.get(f"/entries/{entry_id}/translation", language=LANGUAGE),
            lambda translation: translation["state"] == "complete",
        )
        return Finding(name="articles translated", expected=1, found=int("A bog has time." in done["html"]))

    async def _look_up(self, entry_id: int) -> Finding:
        await self._reader.post(f"/entries/{entry_id}/context")
        panel = await self._until(
            lambda: self._reader.get(f"/entries/{entry_id}/context"), lambda panel: bool(panel["repositories"])
        )
        return Finding(name="cards from GitHub", expected=1, found=len(panel["repositories"]))

    async def _ask_twice(self) -> Finding:
        first = await self._ask(question=QUESTION)
        second = await self._ask(question=FOLLOW_UP, conversation_id=first["conversation_id"])
        cited = sum(1 for answer in (first, second) if "[1]" in answer["text"] or "[2]" in answer["text"])
        return Finding(name="answers that cite passages", expected=2, found=cited)

    async def _ask(self, **question: object) -> Mapping[str, Any]:
        asked = await self._reader.post("/ask", **question)
        return await self._until(
            lambda: self._reader.get(f"/ask/answers/{asked['id']}"), lambda answer: answer["state"] == "done"
        )

    async def _research(self) -> Finding:
        begun = await self._reader.post("/research", question=RESEARCHED, rounds=2)
        run = await self._until(
            lambda: self._reader.get(f"/research/{begun['id']}"), lambda run: run["state"] == "done"
        )
        return Finding(name="reports with sources", expected=1, found=int(bool(run["sources"] and run["report"])))

    async def _until(
        self, look: Callable[[], Awaitable[Mapping[str, Any]]], done: Callable[[Mapping[str, Any]], bool]
    ) -> Mapping[str, Any]:
        deadline = datetime.now(UTC) + SETTLE
        while datetime.now(UTC) < deadline:
            try:
                seen = await look()
            except httpx.HTTPError:
                # The web application or its database may be restarting: some scenarios do that on purpose.
                seen = None
            if seen is not None and done(seen):
                return seen
            await asyncio.sleep(LOOK_SECONDS / self._stage.speed)
        raise TransientError("The reader's day is stuck: an answer, a translation or a card does not arrive.")


def _count_purposes(costs: Mapping[str, Any]) -> int:
    """Count those of the three features of this day that cost something."""
    paid = {line["feature"] for line in costs["days"] if line["cost"] > 0}
    return len(paid & {"translate", "answer", "research"})
