"""BroadcastWorkflow on a real server: pages, retries, stopping half-way, short histories."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle

from pressbox.core.errors import TransientError
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.temporal.calls import Pauses
from pressbox.delivery.domain.attempts import AttemptResult, DeliveryState
from pressbox.delivery.ports import Claim
from pressbox.soonish.contracts import BroadcastWorkflowInput, BroadcastWorkflowResult, SoonishPolicy
from pressbox.soonish.domain.delivery import Cause, DeliveryCounts
from pressbox.soonish.ids import broadcast_workflow_id
from pressbox.soonish.ports import DueDelivery
from pressbox.soonish.workflows.broadcast import BroadcastWorkflow
from tests.waiting import until
from tests.workflows.soonish.conftest import QUICK_POLICY, Stage

# For ten thousand recipients.
MOST_HISTORY_EVENTS = 230


def counts(**states: int) -> DeliveryCounts:
    return DeliveryCounts.from_states(states)


async def broadcast(
    stage: Stage, recipients: Sequence[int], policy: SoonishPolicy = QUICK_POLICY
) -> WorkflowHandle[BroadcastWorkflow, BroadcastWorkflowResult]:
    number = stage.world.ledger.write(stage.event_id, Cause.ANNOUNCEMENT, "a", recipients)
    return await stage.client.start_workflow(
        BroadcastWorkflow.run,
        BroadcastWorkflowInput(event_id=stage.event_id, notification_id=number, policy=policy),
        id=broadcast_workflow_id(stage.event_id, number),
        task_queue=stage.queue,
    )


async def test_everybody_gets_it_once_and_nobody_else(stage: Stage) -> None:
    people = range(10, 45)
    result = await (await broadcast(stage, people)).result()
    assert sorted(key for key, _ in stage.world.sender.sent) == [f"channel:{number}" for number in people]
    assert result.counts == counts(sent=35)
    assert all(message.finished for message in stage.world.ledger.messages.values() if message.recipients != (1,))


async def test_no_recipients_means_nobody(stage: Stage) -> None:
    stage.world.events.subscribe(stage.event_id, 2)
    result = await (await broadcast(stage, [])).result()
    assert result.counts == counts()
    assert stage.world.sender.sent == []


async def test_who_has_no_channel_is_recorded_as_skipped(stage: Stage) -> None:
    stage.world.ledger.without_channel = {11}
    result = await (await broadcast(stage, [10, 11])).result()
    assert result.counts == counts(sent=1, skipped=1)


async def test_only_what_was_not_taken_is_tried_again(stage: Stage) -> None:
    stage.world.sender.answers(11, AttemptResult.UNAVAILABLE, AttemptResult.UNAVAILABLE)
    stage.world.sender.answers(12, *[AttemptResult.UNAVAILABLE] * 3)
    stage.world.sender.answers(13, AttemptResult.UNCONFIRMED)
    stage.world.sender.answers(14, AttemptResult.REFUSED)
    result = await (await broadcast(stage, range(10, 20))).result()
    assert result.counts == counts(sent=7, failed=2, uncertain=1)
    tries = [len(stage.world.sender.to(number)) for number in range(10, 15)]
    assert tries == [1, 3, 3, 1, 1]


async def test_a_broadcast_that_reached_nobody_does_not_look_done(stage: Stage) -> None:
    for number in (10, 11):
        stage.world.sender.answers(number, AttemptResult.REFUSED)
    handle = await broadcast(stage, [10, 11])
    await handle.result()
    last = stage.reports[-1]
    assert (last.state, last.error) == (ProgressState.INCOMPLETE, "0 sent, 2 failed")


async def test_a_page_that_looked_too_early_makes_nobody_wait(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It saw deliveries that another page was sending, and its answer comes last."""
    look, all_final, looked_early = stage.world.ledger.count_deliveries, asyncio.Event(), False

    async def look_late(notification_id: int) -> tuple[DeliveryCounts, datetime | None]:
        nonlocal looked_early
        found = await look(notification_id)
        if found[0].sent == 25:
            all_final.set()
        elif not looked_early:
            looked_early = True
            await all_final.wait()
            await asyncio.sleep(0.2)
        return found

    monkeypatch.setattr(stage.world.ledger, "count_deliveries", look_late)
    stage.world.sender.seconds = 0.05
    handle = await broadcast(stage, range(10, 35))
    assert (await handle.result()).counts == counts(sent=25)
    assert looked_early
    kinds = {event.event_type for event in (await handle.fetch_history()).events}
    assert EventType.EVENT_TYPE_TIMER_STARTED not in kinds


async def test_a_target_that_wants_to_be_asked_later_is_asked_then(stage: Stage) -> None:
    stage.world.sender.answers(11, AttemptResult.UNAVAILABLE, retry_after=timedelta(seconds=3))
    began = datetime.now(UTC)
    handle = await broadcast(stage, [10, 11, 12])
    assert (await handle.result()).counts == counts(sent=3)
    assert datetime.now(UTC) - began >= timedelta(seconds=3)
    assert len(stage.world.sender.to(11)) == 2


async def test_a_database_that_is_away_longer_than_the_tries_forgets_nobody(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressbox.soonish.workflows.broadcast.PAUSES", Pauses(timedelta(milliseconds=100)))
    good, calls = stage.world.ledger.claim_due, 0

    async def away(notification_id: int, claim: Claim, limit: int, *, opens: bool) -> Sequence[DueDelivery]:
        nonlocal calls
        calls += 1
        if calls <= 4:
            raise TransientError("The database does not answer.")
        return await good(notification_id, claim, limit, opens=opens)

    monkeypatch.setattr(stage.world.ledger, "claim_due", away)
    result = await (await broadcast(stage, range(10, 15))).result()
    assert (result.counts, calls) == (counts(sent=5), 5)
    assert len(stage.world.sender.sent) == 5


async def test_stopping_half_way_skips_the_rest_and_waits_for_what_is_on_its_way(stage: Stage) -> None:
    stage.world.sender.seconds = 0.5
    handle = await broadcast(stage, range(10, 4010), QUICK_POLICY.model_copy(update={"batch_size": 500}))
    await until(lambda: len(stage.world.sender.sent) >= 60)
    await handle.cancel()
    result = await handle.result()
    assert result.cancelled
    assert result.counts.pending == result.counts.uncertain == 0
    assert result.counts.sent == len(stage.world.sender.sent) < 4000
    assert result.counts.sent + result.counts.skipped == 4000
    reasons = {item.reason for item in stage.world.ledger.deliveries.values() if item.state is DeliveryState.SKIPPED}
    assert reasons == {"broadcast_cancelled"}
    assert (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED


ONE_WAITS = sorted([(DeliveryState.SENT, 1, False), (DeliveryState.PENDING, 1, False)])


async def test_stopping_between_two_tries_skips_those_that_wait(stage: Stage) -> None:
    stage.world.sender.answers(11, AttemptResult.UNAVAILABLE, retry_after=timedelta(hours=1))
    handle = await broadcast(stage, [10, 11])
    deliveries = stage.world.ledger.deliveries
    await until(lambda: sorted((row.state, row.tries, row.trying) for row in deliveries.values()) == ONE_WAITS)
    await handle.cancel()
    assert (await handle.result()).counts == counts(sent=1, skipped=1)


async def test_ten_thousand_recipients_make_a_short_history(stage: Stage) -> None:
    handle = await broadcast(stage, range(10, 10_010), SoonishPolicy())
    assert (await handle.result()).counts == counts(sent=10_000)
    history = await handle.fetch_history()
    assert len(history.events) < MOST_HISTORY_EVENTS
    begun = sum(event.HasField("activity_task_scheduled_event_attributes") for event in history.events)
    assert begun >= 8, "as many workers as there are shards can share it"
    done = [report.done for report in stage.reports if report.workflow_id == handle.id]
    assert done == sorted(done)
    assert (done[-1], stage.reports[-1].total) == (10_000, 10_000)


async def test_results_that_the_database_could_not_take_at_once_are_kept(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressbox.delivery.activities.dispatch_round.RECORD_PAUSE_SECONDS", 0.05)
    good, failures = stage.world.ledger.record_results, 3

    async def away(results, claim):  # type: ignore[no-untyped-def]
        nonlocal failures
        if failures:
            failures -= 1
            raise TransientError("The database does not answer.")
        await good(results, claim)

    monkeypatch.setattr(stage.world.ledger, "record_results", away)
    result = await (await broadcast(stage, range(10, 15))).result()
    assert result.counts == counts(sent=5)
    assert len(stage.world.sender.sent) == 5, "nobody got a second copy"
    assert not any(item.maybe_twice for item in stage.world.ledger.deliveries.values())
