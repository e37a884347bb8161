"""Activities of MonitorWorkflow, first half: find the fixtures that are due and fetch them in batches.

A batch that fails is recorded on its fixtures; the others go on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PressboxError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.footy.activities.limits import limits
from pressbox.footy.contracts.ingest import RunReference
from pressbox.footy.contracts.monitor import ActivationResult, PollResult, RegisteredRun
from pressbox.footy.domain.day_plan import (
    DayPlan,
    Round,
    count_waiting_calls,
    decide_look,
    decide_poll,
    is_near,
    plan_day,
)
from pressbox.footy.domain.fixture_parser import parse_fixtures
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.request_budget import RequestBudget, should_ask_account
from pressbox.footy.ports.outside import FixturesApi, LiveAnswer
from pressbox.footy.ports.storage import BudgetStore, Polls
from pressbox.footy.ports.workflows import PollPace

Fetcher = Callable[[Sequence[int]], Awaitable[LiveAnswer]]
Recorder = Callable[[LiveAnswer], Awaitable[None]]

CALLS_AT_ONCE = 5
POLL_EVERY = timedelta(seconds=30)
# As many runs in as many intervals are those of a schedule that does not rest, even if somebody runs it by hand.
FREQUENT_RUNS, FREQUENT_SPAN = 3, 4


class PollActivities:
    """`missing` says which setting the API needs; empty when everything is set. `every` is the time between polls."""

    def __init__(
        self,
        api: FixturesApi,
        polls: Polls,
        budget: BudgetStore,
        pace: PollPace,
        missing: str = "",
        every: timedelta = POLL_EVERY,
        now: Clock = utc_now,
    ) -> None:
        self._api = api
        self._polls = polls
        self._budget = budget
        self._pace = pace
        self._missing = missing
        self._every = every
        self._now = now

    @activity.defn
    @call_with(limits(10, attempts=3))
    async def register_monitor_workflow(self, input: RunReference) -> RegisteredRun:
        """Let the schedule rest when there is nothing to poll: it wakes for waiting matches on the quarter hour."""
        if self._missing:
            await self._pace.rest()
            return RegisteredRun(missing=self._missing)
        registered = await self._polls.register_run(input.run_id, input.policy, self._now())
        if registered.active or registered.staging_due or not await self._is_frequent():
            return registered
        await self._pace.rest()
        # A match that was stored between the look and the rest would wait: whoever stored it found no rest to end.
        registered = await self._polls.register_run(input.run_id, input.policy, self._now())
        if registered.active or registered.staging_due:
            await self._pace.hasten()
        return registered

    # One fetch makes many calls, so it has more than the 15 s that the document gives to a single call.
    @activity.defn
    @call_with(limits(60, attempts=2, heartbeat=20))
    async def fetch_staging_fixtures(self, input: RunReference) -> PollResult:
        due = await self._polls.find_staging_due(input.policy, self._now())
        chosen = await self._choose_waiting(due, input.policy)
        await self._polls.pass_over(due.keys() - chosen.keys(), self._now())

        async def record(answer: LiveAnswer) -> None:
            observed, malformed = parse_fixtures(answer.fixtures)
            await self._polls.record_staging(observed, {**answer.missing, **malformed}, self._now())

        async def ask(batch: Sequence[int]) -> LiveAnswer:
            return await self._api.fetch_waiting({number: chosen[number] for number in batch})

        return await self._poll(list(chosen), input.policy, ask, record)

    @activity.defn
    @call_with(limits(30, attempts=2))
    async def pre_activate_upcoming_fixtures(self, input: RunReference) -> ActivationResult:
        activated = await self._polls.activate(input.run_id, input.policy, self._now())
        if activated:
            await self._pace.hasten()
        return ActivationResult(fixtures=activated)

    @activity.defn
    @call_with(limits(60, attempts=2, heartbeat=20))
    async def fetch_active_fixtures(self, input: RunReference) -> PollResult:
        """Fetch only fixtures of which this run has no snapshot yet, so that a retry goes on where it was."""
        due = await self._polls.find_active(input.run_id)
        if due and not await self._is_frequent():
            await self._pace.hasten()
        if due and not await self._may_poll(input.policy):
            return PollResult()

        async def record(answer: LiveAnswer) -> None:
            await self._polls.save_snapshots(input.run_id, answer.fixtures, answer.missing, self._now())

        return await self._poll(due, input.policy, self._api.fetch_by_ids, record)

    async def _is_frequent(self) -> bool:
        """Whether the schedule does not rest, told by its last runs: nobody has to remember what was set."""
        return await self._polls.count_scheduled(self._now() - self._every * FREQUENT_SPAN) >= FREQUENT_RUNS

    async def _may_poll(self, policy: FootyPolicy) -> bool:
        """Whether the requests of the day allow a poll now; the fewer are left, the further apart polls are."""
        known = await self._load_budget()
        plan = await self._plan(known, Round(), policy)
        if plan.live <= self._every and known.poll_seconds is None:
            return True
        now = self._now()
        return await self._budget.change(lambda budget: decide_poll(budget, plan, now, self._every))

    async def _choose_waiting(self, due: Mapping[int, datetime], policy: FootyPolicy) -> Mapping[int, datetime]:
        """The waiting matches that are asked for now: live ones must be polled to their end with what is left."""
        now, known = self._now(), await self._load_budget()
        near = {number: kickoff for number, kickoff in due.items() if is_near(kickoff, now)}
        far = {number: kickoff for number, kickoff in due.items() if number not in near}
        calls = [
            count_waiting_calls(list(one.values()), policy.api_batch, known.refuses_ids(now)) for one in (near, far)
        ]
        plan = await self._plan(known, Round(*calls), policy)
        look = await self._budget.change(
            lambda budget: decide_look(budget, plan, now, policy.staging_interval, Round(*calls))
        )
        return (near if look.near else {}) | (far if look.far else {})

    async def _plan(self, known: RequestBudget, waiting: Round, policy: FootyPolicy) -> DayPlan:
        now = self._now()
        windows = () if known.left_on(now) is None else await self._budget.find_windows(now, policy.activate_ahead)
        return plan_day(known, windows, waiting, now, self._every, policy.staging_interval, policy.api_batch)

    async def _load_budget(self) -> RequestBudget:
        """What is known of the requests. While they are short, the account is asked whether its plan became better."""
        known = await self._budget.load()
        if not should_ask_account(known, self._now()):
            return known
        now = self._now()
        await self._budget.change(lambda budget: (budget.model_copy(update={"account_at": now}), None))
        try:
            await self._api.fetch_status()
        except PressboxError as error:
            activity.logger.warning("The account was not answered: %s", error)
        return await self._budget.load()

    async def _poll(
        self, fixture_ids: Sequence[int], policy: FootyPolicy, fetch: Fetcher, record: Recorder
    ) -> PollResult:
        limit = asyncio.Semaphore(CALLS_AT_ONCE)

        async def ask(batch: Sequence[int]) -> LiveAnswer:
            async with limit:
                try:
                    answer = await fetch(batch)
                except PressboxError as error:
                    activity.logger.warning("%s fixtures were not answered: %s", len(batch), error)
                    answer = LiveAnswer({}, dict.fromkeys(batch, error.message))
                await record(answer)
                return answer

        size = policy.api_batch
        batches = [fixture_ids[begin : begin + size] for begin in range(0, len(fixture_ids), size)]
        async with Heartbeat():
            answers = await asyncio.gather(*(ask(batch) for batch in batches))
        return PollResult(
            calls=sum(answer.calls for answer in answers),
            answered=sum(len(answer.fixtures) for answer in answers),
            failed=sum(len(answer.missing) for answer in answers),
        )
