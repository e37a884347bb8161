"""Judging as a new user has it: settings, a model, a question; and scores in the table, on the pages, in Langfuse."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import func, select
from temporalio.client import Client
from temporalio.worker import Worker

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.ask.service import AnswerStarter
from pressbox.curator.ask.store import AnswerRow, SqlConversations
from pressbox.curator.distil.starter import DistilStarter
from pressbox.curator.evaluate.store import EvaluationRow
from pressbox.curator.evaluate.wiring import evaluation_service
from pressbox.curator.library.contracts import HEAVY_QUEUE, INDEX_QUEUE, QUEUE, heavy_queue, index_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.manifest import APP
from pressbox.curator.models.domain import trace_id
from pressbox.curator.settings import CuratorSettings, DistillerKind, EvaluatorKind
from pressbox.demo.simulators.langfuse import PUBLIC_KEY, SECRET_KEY, LangfuseService
from pressbox.demo.simulators.model import ModelService
from pressbox.demo.simulators.task_script import answer_task
from tests.conftest import TEST_KEY, open_test_resources
from tests.fakes.curator_rows import NOW, Rows, entry, read
from tests.waiting import look_until, until

# Two models are loaded: RAGAS, and the one for vectors.
pytestmark = [pytest.mark.slow, pytest.mark.limit(900)]
TEXT = "The bridge over the estuary was opened to traffic in October 1931. It took four years to build the bridge."


@pytest.fixture
async def model() -> AsyncIterator[ModelService]:
    async with ModelService(script=answer_task) as service:
        yield service


@pytest.fixture
async def langfuse() -> AsyncIterator[LangfuseService]:
    async with LangfuseService() as service:
        yield service


@pytest.fixture
async def connected(
    tmp_path: Path, database: Database, temporal: Client, model: ModelService, langfuse: LangfuseService
) -> AsyncIterator[Resources]:
    curator = CuratorSettings(
        model_url=model.base_url,
        model_name="simulated-model",
        distiller=DistillerKind.LLM,
        evaluation=True,
        evaluator=EvaluatorKind.RAGAS,
        langfuse_url=langfuse.url,
        langfuse_public_key=PUBLIC_KEY,
        langfuse_secret_key=SecretStr(SECRET_KEY),
    )
    settings = Settings(home=tmp_path, secret_key=TEST_KEY, applications=(curator,))
    async with open_test_resources(settings, database, temporal) as resources:
        yield resources


@pytest.fixture
async def queue(connected: Resources) -> AsyncIterator[str]:
    """Workers with everything that the settings wire, on queues of their own."""
    name, functions = f"test-{secrets.token_hex(4)}", APP.activities(connected)
    workflows = [workflow for group in APP.workflows().values() for workflow in group]
    async with AsyncExitStack() as stack:
        for task_queue, wired, kinds in (
            (name, QUEUE, workflows),
            (heavy_queue(name), HEAVY_QUEUE, []),
            (index_queue(name), INDEX_QUEUE, []),
        ):
            worker = Worker(
                connected.temporal,
                task_queue=task_queue,
                workflows=kinds,
                activities=functions[wired],
                interceptors=[ErrorInterceptor()],
            )
            await stack.enter_async_context(worker)
        yield name


async def test_evaluate_an_answer_and_a_summary_with_ragas_and_tell_langfuse(
    connected: Resources, queue: str, model: ModelService, langfuse: LangfuseService
) -> None:
    rows, anna = Rows(connected.database), await Rows(connected.database).user()
    feed = await rows.feed(anna, title="The Estuary")
    await rows.crawl(feed, read(entry(1, title="A bridge of 1931")))
    (entry_id,) = await rows.ids(feed)
    await rows.fetched(entry_id, TEXT)

    async def scored(kind: str) -> list[EvaluationRow]:
        return await rows.all(select(EvaluationRow).where(EvaluationRow.kind == kind).order_by(EvaluationRow.metric))

    await DistilStarter(connected.temporal, queue, CuratorPolicy()).distil([entry_id])
    summary = await look_until(lambda: scored("summary"), lambda rows: len(rows) >= 2)
    assert {(row.subject_id, row.metric, row.evaluator, row.model) for row in summary} == {
        (entry_id, metric, "ragas", "simulated-model") for metric in ("answer_relevancy", "faithfulness")
    }
    # The simulated model repeats the article's own words.
    assert [row.score for row in summary if row.metric == "faithfulness"] == [1.0]

    # Ids are parts of workflow ids, and all tests share one server.
    await rows.all(select(func.setval("curator.answers_id_seq", secrets.randbelow(10**9) + 1)))
    asked = await SqlConversations(connected.database).add_question(
        anna, "When was the bridge opened to traffic?", NOW, conversation_id=None, entry_id=None
    )
    await AnswerStarter(connected.temporal, queue, CuratorPolicy(), evaluate=True).start_answer(asked.id)
    answer = await look_until(lambda: scored("answer"), lambda rows: len(rows) >= 2)
    (kept,) = await rows.all(select(AnswerRow).where(AnswerRow.id == asked.id))
    assert {row.trace_id for row in answer} == {kept.trace_id} == {trace_id("answer", asked.id)}

    await until(lambda: len(langfuse.scores) >= 4)
    assert {score["traceId"] for score in langfuse.scores.values()} == set(langfuse.traces)
    assert set(langfuse.traces) == {kept.trace_id, summary[0].trace_id}
    assert not [body for body in langfuse.bodies if b"estuary" in body or b"opened" in body]

    evaluations = evaluation_service(connected)
    shown = await evaluations.over_time(anna, days=366)
    assert {(line.kind.value, line.metric) for line in shown.lines} == {
        (kind, metric) for kind in ("answer", "summary") for metric in ("answer_relevancy", "faithfulness")
    }
    assert len((await evaluations.of_answers([asked.id]))[asked.id]) == 2
    # Three calls for each text that is judged, beside the one that wrote it.
    assert len(model.asked) == 2 * (3 + 1)
