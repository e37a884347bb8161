"""Starts, stops, resumes and deletes research for a person."""

from collections.abc import Sequence

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import ConflictError, InvalidInputError
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.library.starter import RPC_TIMEOUT, SOMEBODY_WAITS, Starter
from pressbox.curator.research.bounds import LEAST_TOKENS, LONGEST_MINUTES, MOST_ROUNDS, MOST_TOKENS
from pressbox.curator.research.contracts import (
    DEEP_RESEARCH,
    RESEARCH_RESUMED,
    RESEARCH_STOPPED,
    DeepResearchInput,
    research_workflow_id,
)
from pressbox.curator.research.domain import LONGEST_QUESTION, Limits, ResearchState, Run
from pressbox.curator.research.ports import Draft, ResearchRuns, ResearchWorkflows

RUNS_SHOWN = 50
SHORTEST_QUESTION = 3


class ResearchService:
    """`limits` are those of the settings; a person may choose others for a run."""

    def __init__(
        self,
        runs: ResearchRuns,
        workflows: ResearchWorkflows,
        limits: Limits,
        *,
        has_model: bool,
        now: Clock = utc_now,
    ) -> None:
        self._runs = runs
        self._workflows = workflows
        self.limits = limits
        self.has_model = has_model
        self._now = now

    async def start(self, user_id: int, question: str, limits: Limits | None = None) -> int:
        """Create a run and start it. When Temporal is away the run is stored, and can be started from its page."""
        asked = " ".join(question.split())
        if len(asked) < SHORTEST_QUESTION:
            raise InvalidInputError("Type a question.", field="question")
        if len(asked) > LONGEST_QUESTION:
            raise InvalidInputError(f"A question has at most {LONGEST_QUESTION} characters.", field="question")
        run_id = await self._runs.create(Draft(user_id, asked, check_limits(limits or self.limits)), self._now())
        await self._workflows.start_run(run_id)
        return run_id

    async def runs(self, user_id: int) -> Sequence[Run]:
        return await self._runs.list_newest(user_id, RUNS_SHOWN)

    async def run(self, user_id: int, run_id: int) -> Run:
        return await self._runs.load_own(user_id, run_id)

    async def stop(self, user_id: int, run_id: int) -> None:
        """Stop a run after its present step."""
        run = await self._runs.load_own(user_id, run_id)
        if not run.state.unfinished:
            raise ConflictError("This research is not running.", run_id=run_id)
        runs = await self._workflows.stop(run_id)
        # The run may have ended meanwhile, and then stays ended.
        stands = tuple(state for state in ResearchState if not state.unfinished)
        state = ResearchState.STOPPING if runs else ResearchState.STOPPED
        await self._runs.set_state(run_id, state, "", unless=stands)

    async def resume(self, user_id: int, run_id: int) -> str:
        """Go on where the run stopped. A run that is running just goes on."""
        run = await self._runs.load_own(user_id, run_id)
        if run.state is ResearchState.DONE:
            raise ConflictError("This research is finished. Start a new one to ask more.", run_id=run_id)
        if run.state is ResearchState.STOPPING:
            await self._runs.set_state(run_id, ResearchState.RUNNING, "", unless=(ResearchState.DONE,))
        elif not run.state.unfinished:
            await self._runs.set_state(run_id, ResearchState.QUEUED, "", unless=(ResearchState.DONE,))
        return await self._workflows.start_run(run_id)

    async def delete(self, user_id: int, run_id: int) -> None:
        await self._runs.load_own(user_id, run_id)
        await self._workflows.cancel(run_id)
        await self._runs.delete(user_id, run_id)


class ResearchStarter(Starter):
    """Starts, stops and resumes runs. With `evaluate` a model's report is judged afterwards."""

    def __init__(self, client: Client, task_queue: str, policy: CuratorPolicy, *, evaluate: bool = False) -> None:
        super().__init__(client, task_queue, policy)
        self._evaluate = evaluate

    async def start_run(self, run_id: int) -> str:
        """Start a run, or go on with it. A run that is about to stop goes on as well."""
        with translate_rpc_errors():
            handle = await self._client.start_workflow(
                DEEP_RESEARCH,
                DeepResearchInput(run_id=run_id, evaluate=self._evaluate, policy=self._policy),
                id=research_workflow_id(run_id),
                task_queue=self._task_queue,
                start_signal=RESEARCH_RESUMED,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                rpc_timeout=RPC_TIMEOUT,
                priority=SOMEBODY_WAITS,
            )
        return handle.id

    async def stop(self, run_id: int) -> bool:
        """False when nothing runs that could be stopped."""
        handle = self._client.get_workflow_handle(research_workflow_id(run_id))
        with translate_rpc_errors():
            try:
                await handle.signal(RESEARCH_STOPPED, rpc_timeout=RPC_TIMEOUT)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                return False
        return True

    async def cancel(self, run_id: int) -> None:
        """Cancel a run that nobody wants any more."""
        handle = self._client.get_workflow_handle(research_workflow_id(run_id))
        with translate_rpc_errors():
            try:
                await handle.cancel(rpc_timeout=RPC_TIMEOUT)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise


def check_limits(limits: Limits) -> Limits:
    if not 1 <= limits.rounds <= MOST_ROUNDS:
        raise InvalidInputError(f"Rounds are from 1 to {MOST_ROUNDS}.", field="rounds")
    if not LEAST_TOKENS <= limits.tokens <= MOST_TOKENS:
        raise InvalidInputError(f"Tokens are from {LEAST_TOKENS:,} to {MOST_TOKENS:,}.", field="tokens")
    if not 0 < limits.minutes <= LONGEST_MINUTES:
        raise InvalidInputError(f"Minutes are more than 0 and at most {LONGEST_MINUTES:,}.", field="minutes")
    return limits
