"""Starts and stops the work on answers."""

from temporalio.client import Client

from pressbox.core.errors import NotFoundError
from pressbox.core.temporal.client import reaching_temporal
from pressbox.curator.ask.contracts import ANSWER, AnswerInput, answer_workflow_id
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.library.starter import PATIENCE, Starter


class AnswerStarter(Starter):
    """With `evaluate` what a model wrote is judged afterwards."""

    def __init__(self, client: Client, task_queue: str, policy: CuratorPolicy, *, evaluate: bool) -> None:
        super().__init__(client, task_queue, policy)
        self._evaluate = evaluate

    async def start_answer(self, answer_id: int) -> str:
        input = AnswerInput(answer_id=answer_id, evaluate=self._evaluate, policy=self._policy)
        return await self.start(ANSWER, input, answer_workflow_id(answer_id))

    async def stop_answer(self, answer_id: int) -> None:
        handle = self._client.get_workflow_handle(answer_workflow_id(answer_id))
        try:
            with reaching_temporal(missing="It runs no more."):
                await handle.cancel(rpc_timeout=PATIENCE)
        except NotFoundError:
            # It ended by itself a moment ago, which is as good.
            return
