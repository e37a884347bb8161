"""Research as a person starts, watches, stops, resumes, exports and deletes it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from pressbox.core.errors import ConflictError, InvalidInputError
from pressbox.curator.research.domain.research import LONGEST_QUESTION, Limits, ResearchState, Run
from pressbox.curator.research.ports import Draft, ResearchRuns, ResearchWorkflows

MOST_ROUNDS = 10
LEAST_TOKENS, MOST_TOKENS = 1_000, 1_000_000
LONGEST_MINUTES = 24 * 60
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
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._runs = runs
        self._workflows = workflows
        self.limits = limits
        self.has_model = has_model
        self._now = now

    async def start(self, user_id: int, question: str, limits: Limits | None = None) -> int:
        """The id of the run. When Temporal is away it is kept, and can be started from its page."""
        asked = " ".join(question.split())
        if len(asked) < SHORTEST_QUESTION:
            raise InvalidInputError("Write a question.", field="question")
        if len(asked) > LONGEST_QUESTION:
            raise InvalidInputError(f"A question has at most {LONGEST_QUESTION} characters.", field="question")
        run_id = await self._runs.create(Draft(user_id, asked, checked(limits or self.limits)), self._now())
        await self._workflows.research(run_id)
        return run_id

    async def runs(self, user_id: int) -> Sequence[Run]:
        return await self._runs.listed(user_id, RUNS_SHOWN)

    async def run(self, user_id: int, run_id: int) -> Run:
        return await self._runs.owned(user_id, run_id)

    async def stop(self, user_id: int, run_id: int) -> None:
        """After the step that is being done."""
        run = await self._runs.owned(user_id, run_id)
        if not run.state.unfinished:
            raise ConflictError("This research does not run.", run_id=run_id)
        runs = await self._workflows.stop(run_id)
        # It may have come to its end meanwhile, which then stands.
        stands = tuple(state for state in ResearchState if not state.unfinished)
        state = ResearchState.STOPPING if runs else ResearchState.STOPPED
        await self._runs.put_state(run_id, state, "", unless=stands)

    async def resume(self, user_id: int, run_id: int) -> str:
        """Where it stopped. What runs already just goes on."""
        run = await self._runs.owned(user_id, run_id)
        if run.state is ResearchState.DONE:
            raise ConflictError("This research is done. Start another one to ask further.", run_id=run_id)
        if run.state is ResearchState.STOPPING:
            await self._runs.put_state(run_id, ResearchState.RUNNING, "", unless=(ResearchState.DONE,))
        elif not run.state.unfinished:
            await self._runs.put_state(run_id, ResearchState.QUEUED, "", unless=(ResearchState.DONE,))
        return await self._workflows.research(run_id)

    async def delete(self, user_id: int, run_id: int) -> None:
        await self._runs.owned(user_id, run_id)
        await self._workflows.give_up(run_id)
        await self._runs.delete(user_id, run_id)


def checked(limits: Limits) -> Limits:
    if not 1 <= limits.rounds <= MOST_ROUNDS:
        raise InvalidInputError(f"Rounds are from 1 to {MOST_ROUNDS}.", field="rounds")
    if not LEAST_TOKENS <= limits.tokens <= MOST_TOKENS:
        raise InvalidInputError(f"Tokens are from {LEAST_TOKENS:,} to {MOST_TOKENS:,}.", field="tokens")
    if not 0 < limits.minutes <= LONGEST_MINUTES:
        raise InvalidInputError(f"Minutes are more than 0 and at most {LONGEST_MINUTES:,}.", field="minutes")
    return limits
