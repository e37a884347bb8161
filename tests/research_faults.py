"""Research by workers that are killed around its steps, with the real stores, index, ledger and a simulated model."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text, update
from temporalio.client import Client

from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.temporal.faults import Fault, list_planted, plant
from pressbox.curator.library.rows import EntryBodyRow
from pressbox.curator.research import wiring as researching
from pressbox.curator.research.contracts import research_workflow_id
from pressbox.curator.research.domain import Limits, ResearchState, Run, StepKind
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.ports import IndexDocument
from pressbox.curator.search.wiring import index_path
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.simulators.model import MODEL, ModelService
from pressbox.demo.simulators.research_script import ResearchScript
from pressbox.demo.standstill import describe_running
from tests.conftest import TEST_KEY, Parts
from tests.fakes.newsstand import Newsstand
from tests.patience import patience
from tests.reading_faults import workers
from tests.reading_room import open_room, reading_resources, running

LONGEST_SECONDS = patience(600)
QUESTION = "Why does the harbour ferry leave before sunrise?"
_PAID = text(
    "SELECT count(*), coalesce(sum(tokens_in + tokens_out), 0) FROM core.paid_requests WHERE outcome = 'answered'"
)


@dataclass
class Disturbed:
    """A reader with a few articles, and workers that die where faults are planted."""

    stand: Newsstand
    settings: Settings
    model: ModelService
    faults: Path

    def left(self) -> list[str]:
        return [fault.filename for fault in list_planted(self.faults)]

    async def researched(self, *, stop: bool = False) -> Run:
        """To its report; with `stop` it is stopped once and resumed."""
        resources, user_id = self.stand.resources, self.stand.user_id
        service = researching.research_service(resources)
        run_id = await service.start(user_id, QUESTION, Limits(rounds=2))
        handle = resources.temporal.get_workflow_handle(research_workflow_id(run_id))
        if stop:
            await service.stop(user_id, run_id)
            await handle.result()
            assert (await service.run(user_id, run_id)).state is ResearchState.STOPPED
            await service.resume(user_id, run_id)
        try:
            await asyncio.wait_for(handle.result(), LONGEST_SECONDS)
        except TimeoutError:
            waits = await describe_running(resources.temporal)
            raise AssertionError(f"It does not end:\n{waits}\n{await service.run(user_id, run_id)}") from None
        return await service.run(user_id, run_id)

    async def judge(self, run: Run) -> None:
        """A whole report, every step once, and nothing paid for twice."""
        assert run.state is ResearchState.DONE
        assert len(run.sources) == len(run.of(StepKind.READ)) == 6
        assert all(f"[{source.number}]" in run.report for source in run.sources)
        assert all(step.state.over for step in run.steps)
        asked = Counter(_asked(call.texts) for call in self.model.asked)
        assert {question: times for question, times in asked.items() if times > 1} == {}
        async with self.stand.resources.database.unit_of_work() as work:
            calls, tokens = (await work.session.execute(_PAID)).tuples().one()
        assert calls == len(asked), "every answer is in the ledger"
        # What was paid in a step whose worker died afterwards is known to the ledger alone.
        assert run.tokens <= tokens


def _asked(texts: tuple[str, ...]) -> str:
    """One question without its random marks."""
    lines = [line for line in "\n".join(texts).splitlines() if not line.startswith(("BEGIN ", "END ", "Everything "))]
    return "\n".join(lines)


async def plant_articles(stand: Newsstand, settings: Settings) -> None:
    feed_id = await stand.feed("The Harbour Gazette")
    documents = []
    for number in range(6):
        said = (
            f"The harbour ferry number {number} leaves before sunrise, as it has for {number + 20} years. "
            f"Captain {number} of the ferry likes the sunrise. Whoever asks why is told about tide {number}."
        )
        entry_id = await stand.entry(feed_id, f"Ferry {number}", f"<p>{said}</p>", content_hash=f"ferry {number}")
        async with stand.resources.database.unit_of_work() as work:
            body = update(EntryBodyRow).where(EntryBodyRow.entry_id == entry_id)
            await work.session.execute(body.values(filtered_content=said))
        now = datetime.now(UTC)
        documents.append(IndexDocument(entry_id, feed_id, f"Ferry {number}", "", said, "", "", now))
    await TantivyIndex(index_path(settings)).add(documents)


@asynccontextmanager
async def disturbed(
    parts: Parts, database_url: str, database: Database, temporal: Client, folder: Path, faults: Iterable[Fault]
) -> AsyncIterator[Disturbed]:
    for fault in faults:
        plant(folder / "faults", fault)
    async with ModelService(script=ResearchScript()) as model:
        curator = CuratorSettings(model_url=model.base_url, model_name=MODEL)
        settings = Settings(home=folder / "home", secret_key=TEST_KEY, applications=(curator,))
        environment = {
            "PRESSBOX_HOME": str(folder / "home"),
            "PRESSBOX_DATABASE_URL": database_url,
            "PRESSBOX_TEMPORAL_ADDRESS": parts.temporal_address,
            "PRESSBOX_SECRET_KEY": TEST_KEY.get_secret_value(),
            "PRESSBOX_TESTING_FAULTS_DIRECTORY": str(folder / "faults"),
            "PRESSBOX_WORKER_HEALTH_PORT": "0",
            "PRESSBOX_LOG_LEVEL": "error",
            "PRESSBOX_CURATOR_MODEL_URL": model.base_url,
            "PRESSBOX_CURATOR_MODEL_NAME": MODEL,
        }
        async with reading_resources(settings, database, temporal) as resources:
            for workflow_id in await running(temporal):
                await temporal.get_workflow_handle(workflow_id).terminate("left by another test")
            stand = Newsstand(resources, (await open_room(resources)).user_id)
            await plant_articles(stand, settings)
            with workers(environment):
                yield Disturbed(stand, settings, model, folder / "faults")
