"""A question on real parts, from the box to a cited answer: index, vectors, graph, Temporal, and a model over HTTP."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import func, select
from temporalio.worker import Worker

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.errors import PressboxError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.ask import wiring as asking
from pressbox.curator.ask.commands import show
from pressbox.curator.ask.domain import AnswerMethod, AnswerState, AnswerView, cited
from pressbox.curator.ask.service import AnswerStarter, AskService
from pressbox.curator.ask.store import SqlAnswers, SqlConversations
from pressbox.curator.ask.workflow import AnswerWorkflow
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE, heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.wiring import index_path
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.simulators.answer_script import AnswerScript, Slip
from pressbox.demo.simulators.model import MODEL, Mistake, ModelService
from tests.fakes.asking import written
from tests.fakes.reader import Library
from tests.patience import patience
from tests.waiting import look_until

BRIDGE = "The old bridge over the Elbe is closed. Engineers found cracks in its pylons. Repairs will take a year."
CAKE = "This cake needs four eggs. Bake it for an hour."
POLICY = CuratorPolicy().at_speed(400)


@pytest.fixture
async def model() -> AsyncIterator[ModelService]:
    async with ModelService(script=AnswerScript()) as model:
        yield model


@pytest.fixture
def settings(settings: Settings, model: ModelService) -> Settings:
    return settings.with_group(
        CuratorSettings(model_url=model.base_url, model_name=MODEL, model_timeout_seconds=patience(10))
    )


class Desk:
    """A person with two articles, and the workers that answer."""

    def __init__(self, resources: Resources) -> None:
        self.resources, self.library = resources, Library(resources)
        self.queue = f"ask-{secrets.token_hex(4)}"
        starter = AnswerStarter(resources.temporal, self.queue, POLICY, evaluate=False)
        database = resources.database
        self.service = AskService(SqlConversations(database), SqlAnswers(database), starter, has_model=True)
        self.reader = 0

    async def open(self, stack: AsyncExitStack) -> None:
        # Ids are parts of workflow ids, and all tests share one server.
        async with self.resources.database.unit_of_work() as work:
            await work.session.execute(select(func.setval("curator.answers_id_seq", secrets.randbelow(10**9) + 1)))
        self.reader = await self.library.person()
        feed = await self.library.feed(self.reader, title="The Herald")
        found = [await written(self.library, feed, "River", BRIDGE, vector=False),
                 await written(self.library, feed, "Kitchen", CAKE, vector=False)]  # fmt: skip
        await TantivyIndex(index_path(self.resources.settings)).add(found)
        functions = asking.activities(self.resources)
        for queue, activities, workflows in (
            (self.queue, functions[QUEUE], [AnswerWorkflow]),
            (heavy_queue(self.queue), functions[HEAVY_QUEUE], []),
        ):
            worker = Worker(
                self.resources.temporal,
                task_queue=queue,
                workflows=workflows,
                activities=activities,
                interceptors=[ErrorInterceptor()],
                workflow_failure_exception_types=[PressboxError],
            )
            await stack.enter_async_context(worker)

    async def answered(self, question: str, **more: int) -> AnswerView:
        answer = await self.service.ask(self.reader, question, **more)
        return await look_until(
            lambda: self.service.answer(self.reader, answer.id), lambda found: not found.state.is_open
        )


@pytest.fixture
async def desk(resources: Resources) -> AsyncIterator[Desk]:
    desk = Desk(resources)
    async with AsyncExitStack() as stack:
        await desk.open(stack)
        yield desk


async def test_a_question_is_answered_with_citations_paid_once_and_asked_further(
    desk: Desk, model: ModelService, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = await desk.answered("Why is the bridge over the Elbe closed?")
    assert (answer.state, answer.method, answer.model) == (AnswerState.DONE, AnswerMethod.MODEL, MODEL)
    assert cited(answer.text)
    assert answer.passages[cited(answer.text)[0] - 1].title == "River"
    assert "The old bridge over the Elbe is closed" in answer.text
    again = await desk.answered("Why is the bridge over the Elbe closed?")
    assert again.text == answer.text
    assert len(model.asked) == 1
    further = await desk.answered("And for how long?", conversation_id=answer.conversation_id)
    assert further.passages[0].title == "River"
    assert "Why is the bridge" in model.asked[-1].texts[-1]
    show(answer)
    assert "[1] River (The Herald, " in capsys.readouterr().out


async def test_a_stream_that_breaks_off_is_begun_again_and_nothing_of_it_is_left(
    desk: Desk, model: ModelService
) -> None:
    model.err(Mistake.BROKEN, Mistake.UNAVAILABLE)
    answer = await desk.answered("How many eggs does the cake need?")
    assert answer.state is AnswerState.DONE
    assert answer.text.count("This cake needs four eggs") == 1
    assert len(model.asked) == 3


async def test_a_model_that_obeys_an_article_changes_nothing_but_its_own_words(desk: Desk, model: ModelService) -> None:
    model.script = AnswerScript(Slip.OBEYS)
    answer = await desk.answered("How many eggs does the cake need?")
    assert answer.state is AnswerState.DONE
    assert "javascript:" not in answer.text
    assert len(model.asked) == 1
