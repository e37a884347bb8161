"""The effects of one poll: snapshots, comparison, what is to be searched, what is over. Batches inside, never one each.

A batch or a fixture that goes wrong is recorded on the fixtures it concerns; the others go on.
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
from pressbox.footy.contracts.monitor import (
    Activated,
    Compared,
    CompletedFixtures,
    FinishRunInput,
    GoalsToSearch,
    Notified,
    Polled,
    RegisteredRun,
    WorkflowIds,
)
from pressbox.footy.domain.fixture_parser import MalformedAnswerError, read_fixture
from pressbox.footy.domain.fixtures import ObservedFixture
from pressbox.footy.domain.goals import Comparison, Sighting
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.names import slug
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ports.outside import FixturesApi, LiveAnswer
from pressbox.footy.ports.storage import Decision, Fixtures, Goals, RawFixture, ToCompare
from pressbox.footy.ports.workflows import Workflows

Recorder = Callable[[LiveAnswer], Awaitable[None]]

CALLS_AT_ONCE = 8
COMPARED_TOGETHER = 200
SEARCHES_PER_POLL = 200
# Shorter than the activity may take; what is left is taken by the next call.
COMPARING_TIME = timedelta(seconds=6)


class MonitorActivities:
    """`missing` says what must be set before the API can be asked; empty when nothing is."""

    def __init__(
        self,
        api: FixturesApi,
        fixtures: Fixtures,
        goals: Goals,
        workflows: Workflows,
        missing: str = "",
        now: Clock = utc_now,
    ) -> None:
        self._api = api
        self._fixtures = fixtures
        self._goals = goals
        self._workflows = workflows
        self._missing = missing
        self._now = now

    @activity.defn
    @call_with(limits(10, attempts=3))
    async def register_monitor_workflow(self, input: RunReference) -> RegisteredRun:
        if self._missing:
            return RegisteredRun(missing=self._missing)
        return await self._fixtures.register_run(input.run_id, input.policy, self._now())

    # One fetch makes many calls, so it has more than the 15 s that the document gives to a single call.
    @activity.defn
    @call_with(limits(60, attempts=2, heartbeat=20))
    async def fetch_staging_fixtures(self, input: RunReference) -> Polled:
        due = await self._fixtures.staging_due(input.policy, self._now())

        async def record(answer: LiveAnswer) -> None:
            observed, malformed = _read_all(answer.fixtures)
            await self._fixtures.record_staging(observed, {**answer.missing, **malformed}, self._now())

        return await self._poll(due, input.policy, record)

    @activity.defn
    @call_with(limits(30, attempts=2))
    async def pre_activate_upcoming_fixtures(self, input: RunReference) -> Activated:
        return Activated(fixtures=await self._fixtures.activate(input.run_id, input.policy, self._now()))

    @activity.defn
    @call_with(limits(60, attempts=2, heartbeat=20))
    async def fetch_active_fixtures(self, input: RunReference) -> Polled:
        """A retry asks only for what this run has no snapshot of."""
        due = await self._fixtures.active_ids(input.run_id)

        async def record(answer: LiveAnswer) -> None:
            await self._fixtures.save_snapshots(input.run_id, answer.fixtures, answer.missing, self._now())

        return await self._poll(due, input.policy, record)

    @activity.defn
    @call_with(limits(10, attempts=3))
    async def store_and_compare(self, input: RunReference) -> Compared:
        begun, total = self._now(), Compared()
        while page := await self._fixtures.to_compare(input.run_id, COMPARED_TOGETHER):
            now = self._now()
            decisions = {item.fixture_id: (item.version, decide(item, input, now)) for item in page}
            moved = await self._fixtures.apply(input.run_id, decisions, input.policy, now)
            total = _add(total, [decision for key, (_, decision) in decisions.items() if key not in moved])
            if self._now() - begun > COMPARING_TIME:
                return total.model_copy(update={"more": True})
        return total

    @activity.defn
    @call_with(limits(10, attempts=3))
    async def sync_fixture_metadata(self, input: RunReference) -> Polled:
        """Score, status and minute of every answered fixture; those that cannot be read were recorded before."""
        after, answered = 0, 0
        while page := await self._fixtures.snapshots(input.run_id, after, COMPARED_TOGETHER):
            observed, _ = _read_all(dict(page))
            await self._fixtures.sync_metadata(input.run_id, observed, self._now())
            answered += len(observed)
            after = page[-1][0]
        return Polled(answered=answered)

    @activity.defn
    @call_with(limits(60, attempts=3))
    async def process_fixture_events(self, input: RunReference) -> GoalsToSearch:
        """Confirmed goals whose search has not begun. The readable parts of their ids are frozen here."""
        goals = await self._goals.to_search(
            input.policy, SEARCHES_PER_POLL, lambda team, player: (slug(team), slug(player))
        )
        return GoalsToSearch(goals=tuple(goals), more=len(goals) == SEARCHES_PER_POLL)

    @activity.defn
    @call_with(limits(10, attempts=2))
    async def check_twitter_workflow_running(self, input: WorkflowIds) -> WorkflowIds:
        return WorkflowIds(workflow_ids=tuple(await self._workflows.running(input.workflow_ids)))

    @activity.defn
    @call_with(limits(10, attempts=3))
    async def complete_fixture_if_ready(self, input: RunReference) -> CompletedFixtures:
        return await self._fixtures.complete_ready(input.run_id, input.policy, self._now())

    # The document tries once, but a browser that misses this shows old scores until the next change.
    @activity.defn
    @call_with(limits(10, attempts=3))
    async def notify_frontend_refresh(self, input: FinishRunInput) -> Notified:
        counts = {name: value for name, value in input.result.model_dump().items() if isinstance(value, int)}
        told = await self._fixtures.tell_readers(input.run_id)
        await self._fixtures.finish_run(input.run_id, counts, self._now())
        return Notified(fixtures=told)

    async def _poll(self, fixture_ids: Sequence[int], policy: FootyPolicy, record: Recorder) -> Polled:
        limit = asyncio.Semaphore(CALLS_AT_ONCE)

        async def one(batch: Sequence[int]) -> LiveAnswer:
            async with limit:
                try:
                    answer = await self._api.fixtures_by_ids(batch)
                except PressboxError as error:
                    activity.logger.warning("%s fixtures were not answered: %s", len(batch), error)
                    answer = LiveAnswer({}, dict.fromkeys(batch, error.message))
                await record(answer)
                return answer

        batches = [
            fixture_ids[begin : begin + policy.api_batch] for begin in range(0, len(fixture_ids), policy.api_batch)
        ]
        async with Heartbeat():
            answers = await asyncio.gather(*(one(batch) for batch in batches))
        return Polled(
            calls=sum(answer.calls for answer in answers),
            answered=sum(len(answer.fixtures) for answer in answers),
            failed=sum(len(answer.missing) for answer in answers),
        )


def decide(item: ToCompare, run: RunReference, now: datetime) -> Decision:
    try:
        observed = read_fixture(item.raw)
        comparison = compare(item.goals, item.sequences, observed, run.run_id, now, run.policy)
    except MalformedAnswerError as error:
        return Decision(None, Comparison(), error.message)
    # Whatever else is wrong with one fixture is a bug of ours, and must not stop the other matches.
    except Exception as error:  # noqa: BLE001
        activity.logger.exception("Fixture %s could not be compared", item.fixture_id)
        return Decision(None, Comparison(), f"It could not be compared: {error}")
    return Decision(observed, comparison)


def _read_all(fixtures: Mapping[int, RawFixture]) -> tuple[list[ObservedFixture], dict[int, str]]:
    observed: list[ObservedFixture] = []
    malformed: dict[int, str] = {}
    for fixture_id, raw in fixtures.items():
        try:
            observed.append(read_fixture(raw))
        except MalformedAnswerError as error:
            malformed[fixture_id] = error.message
    return observed, malformed


def _add(total: Compared, decisions: Sequence[Decision]) -> Compared:
    found = [decision.comparison for decision in decisions]
    return Compared(
        fixtures=total.fixtures + len(decisions),
        created=total.created + sum(len(each.created) for each in found),
        changed=total.changed + sum(seen.sighting is not Sighting.UNCHANGED for each in found for seen in each.seen),
        removed=total.removed + sum(missed.removes for each in found for missed in each.missed),
        failed=total.failed + sum(decision.observed is None for decision in decisions),
    )
