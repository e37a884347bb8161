"""DeepResearchWorkflow: a question, researched in rounds until it is answered or a bound is reached."""

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import Method, call, failure_reason, start_detached
    from pressbox.curator.evaluate.contracts import EVALUATION, EvaluationInput, EvaluationMode, evaluation_workflow_id
    from pressbox.curator.library.audiences import researcher_of
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.models.waiting import SHORTEST_WAIT, WAITING
    from pressbox.curator.research.activities import ResearchActivities
    from pressbox.curator.research.contracts import (
        CloseResearchInput,
        DeepResearchInput,
        DeepResearchOutput,
        DeepResearchProgress,
        ResearchBounds,
        ResearchStepDone,
        ResearchStepInput,
    )
    from pressbox.curator.research.domain import EndedBy, Limits, ResearchState, bound_reached

NOTHING = timedelta(0)


class _StoppedError(Exception):
    """Somebody wants it to stand still."""


@workflow.defn
class DeepResearchWorkflow:
    """Plans, then searches, reads and looks for gaps in rounds, and writes a report of what is there.

    Id `research-<run>`; started by a person. What was done is in the database, step by step: a run that was stopped or
    failed goes on where it stood when it is started again, and pays for nothing twice. While no model answers it waits,
    which does not count as its time. Ends with a report, whichever bound is reached.
    """

    @workflow.init
    def __init__(self, input: DeepResearchInput) -> None:
        self._input = input
        self._stop = False
        self._bounds = ResearchBounds()
        self._since: datetime = workflow.now()
        self._waited = NOTHING
        self._round = 0
        self._done = ResearchStepDone()
        first = DeepResearchProgress(title="Research", audience=researcher_of(input.run_id))
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> DeepResearchProgress:
        return self._progress.current

    @workflow.signal
    def stop_requested(self) -> None:
        """After the step that is being done: it is paid for."""
        self._stop = True

    @workflow.signal
    def resume_requested(self) -> None:
        """Comes with every start, so that one in the middle of stopping goes on."""
        self._stop = False

    @workflow.run
    async def run(self, input: DeepResearchInput) -> DeepResearchOutput:
        while True:
            try:
                return await self._work()
            except _StoppedError:
                await self._close(ResearchState.STOPPED, "")
            except (asyncio.CancelledError, ActivityError) as error:
                cancelled = is_cancelled_exception(error)
                state = ResearchState.STOPPED if cancelled else ResearchState.FAILED
                await self._close(state, "" if cancelled else failure_reason(error))
                raise
            if self._stop:
                self._progress.update(current_step="", message="stopped")
                return self._output(ResearchState.STOPPED)

    async def _work(self) -> DeepResearchOutput:
        self._bounds = await call(ResearchActivities.open_research, ResearchStepInput(run_id=self._input.run_id))
        if self._bounds.gone:
            return self._output(ResearchState.STOPPED)
        self._since, self._waited = workflow.now(), NOTHING
        self._done = ResearchStepDone(tokens=self._bounds.tokens)
        self._show("plan")
        await self._step(ResearchActivities.plan_research)
        ended_by = await self._rounds()
        self._show("write")
        written = await self._step(ResearchActivities.write_research, ended_by=ended_by)
        await self._evaluate(written.trace_id)
        self._progress.complete(done=self._bounds.rounds, message=f"{written.sources} sources")
        return self._output(ResearchState.DONE, ended_by)

    async def _rounds(self) -> EndedBy:
        for round in range(1, self._bounds.rounds + 1):
            self._round = round
            if reached := self._reached():
                return reached
            self._show("search")
            found = await self._step(ResearchActivities.search_for_research)
            for position in found.to_read:
                if reached := self._reached():
                    return reached
                self._show("read")
                await self._step(ResearchActivities.read_for_research, position)
            if round == self._bounds.rounds or self._reached():
                break
            self._show("check")
            checked = await self._step(ResearchActivities.check_research)
            if checked.ended_by is not None:
                return checked.ended_by
        return self._reached() or EndedBy.ROUNDS

    async def _step(
        self,
        method: "Method[ResearchStepInput, ResearchStepDone]",
        position: int = 0,
        ended_by: EndedBy | None = None,
    ) -> ResearchStepDone:
        """One step, however long no model answers. Whoever stops the run does not wait for the model."""
        while True:
            if self._stop:
                raise _StoppedError
            wanted = ResearchStepInput(
                run_id=self._input.run_id,
                round=self._round,
                position=position,
                seconds=self._worked().total_seconds(),
                ended_by=ended_by,
                policy=self._input.policy,
            )
            self._done = await call(method, wanted)
            if self._done.retry_at is None:
                return self._done
            await self._wait(self._done.retry_at, self._done.reason)

    async def _wait(self, until: datetime, reason: str) -> None:
        began = workflow.now()
        self._show(WAITING, message=reason)
        # A timeout is the time that has come without anybody who stops it.
        with suppress(TimeoutError):
            await workflow.wait_condition(lambda: self._stop, timeout=max(until - began, SHORTEST_WAIT))
        self._waited += workflow.now() - began
        if workflow.info().is_continue_as_new_suggested() and not self._stop:
            # Days without a model: everything that was done is in the database.
            workflow.continue_as_new(self._input)

    async def _close(self, state: ResearchState, reason: str) -> None:
        seconds = self._worked().total_seconds()
        closed = CloseResearchInput(run_id=self._input.run_id, state=state, reason=reason, seconds=seconds)
        await call(ResearchActivities.close_research, closed)

    async def _evaluate(self, trace_id: str) -> None:
        """Nobody waits for the judgement."""
        if not self._input.evaluate or not trace_id:
            return
        judged = EvaluationInput(trace_id=trace_id, mode=EvaluationMode.RESEARCH, subject_id=self._input.run_id)
        await start_detached(EVALUATION, judged, evaluation_workflow_id(trace_id))

    def _worked(self) -> timedelta:
        return timedelta(seconds=self._bounds.seconds) + (workflow.now() - self._since) - self._waited

    def _reached(self) -> EndedBy | None:
        bounds = self._bounds
        limits = Limits(bounds.rounds, bounds.tokens_limit, bounds.minutes)
        return bound_reached(limits, self._done.tokens, self._worked())

    def _show(self, step: str, **changes: object) -> None:
        self._progress.update(
            **{
                "current_step": step,
                "message": step,
                "done": max(self._round - 1, 0),
                "total": self._bounds.rounds,
                "round": self._round,
                "rounds": self._bounds.rounds,
                "sources_read": self._done.sources,
                "tokens_used": self._done.tokens,
                "tokens_limit": self._bounds.tokens_limit,
                **changes,
            }
        )

    def _output(self, state: ResearchState, ended_by: EndedBy | None = None) -> DeepResearchOutput:
        return DeepResearchOutput(
            run_id=self._input.run_id,
            state=state,
            ended_by=ended_by,
            rounds=self._round,
            sources=self._done.sources,
            tokens=self._done.tokens,
        )
