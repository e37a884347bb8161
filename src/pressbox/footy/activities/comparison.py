"""Activities of MonitorWorkflow, second half: compare the answers with the known goals and act on the result.

A fixture that cannot be compared is recorded as such; the others go on.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.temporal.calls import call_with
from pressbox.footy.activities.limits import limits
from pressbox.footy.contracts.ingest import RunReference
from pressbox.footy.contracts.monitor import (
    ComparisonResult,
    CompletedFixtures,
    FinishRunInput,
    GoalsToSearch,
    NotificationResult,
    PollResult,
    WorkflowIds,
)
from pressbox.footy.domain.fixture_parser import MalformedAnswerError, parse_fixture, parse_fixtures
from pressbox.footy.domain.goals import Comparison, Sighting
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.names import slug
from pressbox.footy.ports.storage import (
    Comparisons,
    FixtureArchive,
    FixtureDecision,
    Goals,
    Polls,
    UncomparedFixture,
)
from pressbox.footy.ports.workflows import Workflows

COMPARED_TOGETHER = 200
SEARCHES_PER_POLL = 200
# Shorter than the activity may take; what is left is taken by the next call.
COMPARING_TIME = timedelta(seconds=6)


class ComparisonActivities:
    def __init__(
        self,
        polls: Polls,
        comparisons: Comparisons,
        archive: FixtureArchive,
        goals: Goals,
        workflows: Workflows,
        now: Clock = utc_now,
    ) -> None:
        self._polls = polls
        self._comparisons = comparisons
        self._archive = archive
        self._goals = goals
        self._workflows = workflows
        self._now = now

    @activity.defn
    @call_with(limits(10, attempts=3))
    async def store_and_compare(self, input: RunReference) -> ComparisonResult:
        begun, total = self._now(), ComparisonResult()
        while page := await self._comparisons.load_uncompared(input.run_id, COMPARED_TOGETHER):
            now = self._now()
            decisions = {item.fixture_id: (item.version, decide(item, input, now)) for item in page}
            moved = await self._comparisons.apply(input.run_id, decisions, input.policy, now)
            total = _add(total, [decision for key, (_, decision) in decisions.items() if key not in moved])
            if self._now() - begun > COMPARING_TIME:
                return total.model_copy(update={"more": True})
        return total

    @activity.defn
    @call_with(limits(10, attempts=3))
    async def sync_fixture_metadata(self, input: RunReference) -> PollResult:
        """Store score, status and minute of every answered fixture. Unreadable ones were recorded by the comparison."""
        after, answered = 0, 0
        while page := await self._comparisons.load_snapshots(input.run_id, after, COMPARED_TOGETHER):
            observed, _ = parse_fixtures(dict(page))
            await self._comparisons.sync_metadata(input.run_id, observed, self._now())
            answered += len(observed)
            after = page[-1][0]
        return PollResult(answered=answered)

    @activity.defn
    @call_with(limits(60, attempts=3))
    async def process_fixture_events(self, input: RunReference) -> GoalsToSearch:
        """Return confirmed goals whose search has not begun, and freeze the readable parts of their workflow ids."""
        goals = await self._goals.claim_searches(
            input.policy, SEARCHES_PER_POLL, lambda team, player: (slug(team), slug(player))
        )
        return GoalsToSearch(goals=tuple(goals), more=len(goals) == SEARCHES_PER_POLL)

    @activity.defn
    @call_with(limits(10, attempts=2))
    async def check_twitter_workflow_running(self, input: WorkflowIds) -> WorkflowIds:
        return WorkflowIds(workflow_ids=tuple(await self._workflows.find_running(input.workflow_ids)))

    @activity.defn
    @call_with(limits(10, attempts=3))
    async def complete_fixture_if_ready(self, input: RunReference) -> CompletedFixtures:
        return await self._archive.archive_finished(input.run_id, input.policy, self._now())

    # The document tries once, but a browser that misses this shows old scores until the next change.
    @activity.defn
    @call_with(limits(10, attempts=3))
    async def notify_frontend_refresh(self, input: FinishRunInput) -> NotificationResult:
        counts = {name: value for name, value in input.result.model_dump().items() if isinstance(value, int)}
        changed = await self._polls.publish_changes(input.run_id)
        await self._polls.finish_run(input.run_id, counts, self._now())
        return NotificationResult(fixtures=changed)


def decide(item: UncomparedFixture, run: RunReference, now: datetime) -> FixtureDecision:
    try:
        observed = parse_fixture(item.raw)
        comparison = compare(item.goals, item.sequences, observed, run.run_id, now, run.policy, item.looked)
    except MalformedAnswerError as error:
        return FixtureDecision(None, Comparison(), error.message)
    # Anything else is a bug of ours, which must not stop the other fixtures.
    except Exception as error:  # noqa: BLE001
        activity.logger.exception("Fixture %s could not be compared", item.fixture_id)
        return FixtureDecision(None, Comparison(), f"It could not be compared: {error}")
    return FixtureDecision(observed, comparison)


def _add(total: ComparisonResult, decisions: Sequence[FixtureDecision]) -> ComparisonResult:
    found = [decision.comparison for decision in decisions]
    return ComparisonResult(
        fixtures=total.fixtures + len(decisions),
        created=total.created + sum(len(each.created) for each in found),
        changed=total.changed + sum(seen.sighting is not Sighting.UNCHANGED for each in found for seen in each.seen),
        removed=total.removed + sum(missed.removes for each in found for missed in each.missed),
        failed=total.failed + sum(decision.observed is None for decision in decisions),
    )
