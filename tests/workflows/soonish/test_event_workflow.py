"""EventWorkflow on a real server: order, merging, cancellation, completion, continuing as new."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.testing import WorkflowEnvironment

from pressbox.core.errors import PermanentError, TransientError
from pressbox.core.progress.contracts import ProgressState
from pressbox.delivery.domain.attempts import AttemptResult, DeliveryState, Level
from pressbox.delivery.ports import OutgoingMessage
from pressbox.soonish.contracts import (
    EventCancelled,
    EventUpdated,
    ManualNotificationSent,
    ParticipantAdded,
    ParticipantChanged,
    ParticipantRemoved,
)
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.ids import broadcast_workflow_id, event_workflow_id
from tests.fakes.soonish import ORGANISER, FakeWorld
from tests.waiting import PATIENCE_SECONDS, until
from tests.workflows.soonish.conftest import QUICK_POLICY, Stage, end, in_two_days, staged

HOUR, DAY = 3600, 86_400


async def ended_at(handle: WorkflowHandle[Any, Any]) -> datetime:
    """From the history: the clock of the server that skips time runs on when nothing is left to wait for."""
    history = await handle.fetch_history()
    return history.events[-1].event_time.ToDatetime(tzinfo=UTC)


def announce(stage: Stage, version: str, *recipients: int) -> ManualNotificationSent:
    number = stage.world.ledger.write(stage.event_id, Cause.ANNOUNCEMENT, version, recipients)
    return ManualNotificationSent(outbox_id=stage.number, notification_id=number)


def cancel(stage: Stage, *recipients: int) -> EventCancelled:
    """What the service writes before it tells."""
    stage.world.events.all[stage.event_id].status = EventStatus.CANCELLED
    number = stage.world.ledger.write(stage.event_id, Cause.CANCELLED, "1", recipients, Level.CRITICAL)
    return EventCancelled(outbox_id=stage.number, notification_id=number)


def edit(stage: Stage, **changes: object) -> EventUpdated:
    return EventUpdated(outbox_id=stage.number, version=stage.world.events.edit(stage.event_id, **changes))


def titles(world: FakeWorld) -> list[str]:
    return [message.title for _, message in world.sender.sent]


async def test_created_goes_to_the_organiser_only(stage: Stage) -> None:
    for person in (2, 3):
        stage.world.events.subscribe(stage.event_id, person)
    await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
    await until(lambda: len(stage.world.schedules.exist) == 4, "every reminder schedule")
    assert [key for key, _ in stage.world.sender.sent] == [f"channel:{ORGANISER}"]
    assert titles(stage.world) == ["created 1"]
    own = {report.state for report in stage.reports if report.workflow_id == event_workflow_id(stage.event_id)}
    assert own == {ProgressState.PLANNED}, "an event waits, often for months; its messages run"


async def test_an_event_that_is_reopened_during_its_cancellation_goes_on(stage: Stage) -> None:
    stage.world.events.subscribe(stage.event_id, 2)
    handle = await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
    await until(lambda: len(stage.world.schedules.exist) == 2, "its schedules")
    stage.world.sender.seconds = 0.3
    cancelled = cancel(stage, 2)
    await stage.tell(cancelled)
    await until(lambda: "cancelled 1" in titles(stage.world), "the cancellation")
    stage.world.events.all[stage.event_id].status = EventStatus.ACTIVE
    number = stage.world.ledger.write(stage.event_id, Cause.REOPENED, "3", [2])
    await stage.tell(
        EventUpdated(outbox_id=stage.number, version=3),
        ManualNotificationSent(outbox_id=stage.number, notification_id=number),
    )
    await until(lambda: titles(stage.world)[-1] == "reopened 3", "the news that it takes place")
    await until(lambda: len(stage.world.schedules.exist) == 2, "its schedules are back")
    newest = stage.client.get_workflow_handle(handle.id)
    assert (await newest.describe()).status is WorkflowExecutionStatus.RUNNING


async def test_messages_go_out_in_the_order_in_which_they_were_accepted(stage: Stage) -> None:
    people = range(2, 32)
    stage.world.sender.seconds = 0.005
    await stage.tell(announce(stage, "a", *people), announce(stage, "b", *people), announce(stage, "c", *people))
    await until(lambda: len(stage.world.sender.sent) == 91, "everything")
    assert titles(stage.world)[1:] == [f"announcement {letter}" for letter in "abc" for _ in people]


async def test_edits_within_the_window_are_one_message_from_the_first_to_the_last(stage: Stage) -> None:
    stage.world.events.subscribe(stage.event_id, 2)
    await stage.tell(edit(stage, location="Hall 1"), edit(stage, location="Hall 2"), edit(stage, name="Recital"))
    await until(lambda: len(stage.world.sender.to(2)) == 1, "the update")
    await stage.tell(edit(stage, location="Hall 3"))
    await until(lambda: len(stage.world.sender.to(2)) == 2, "the second update")
    assert stage.world.sender.to(2) == ["updated 1→4", "updated 4→5"]


async def test_edits_that_undo_each_other_are_no_news(stage: Stage) -> None:
    stage.world.events.subscribe(stage.event_id, 2)
    await stage.tell(edit(stage, location="Hall 1"), edit(stage, location=""))
    await asyncio.sleep(QUICK_POLICY.merge_window.total_seconds() + 0.3)
    await stage.tell(announce(stage, "later", 2))
    await until(lambda: bool(stage.world.sender.to(2)), "the announcement")
    assert stage.world.sender.to(2) == ["announcement later"]


async def test_a_cancellation_drops_a_pending_update_and_ends_the_event(stage: Stage) -> None:
    stage.world.events.subscribe(stage.event_id, 2)
    handle = await stage.tell(edit(stage, location="Hall 1"), cancel(stage, 2))
    assert (await handle.result()).status is EventStatus.CANCELLED
    assert stage.world.sender.to(2) == ["cancelled 1"]
    assert stage.world.schedules.exist == {}
    assert stage.reports[-1].state is ProgressState.COMPLETED


async def test_people_hear_of_a_cancellation_while_schedules_cannot_be_deleted(stage: Stage) -> None:
    stage.world.events.subscribe(stage.event_id, 2)
    await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
    await until(lambda: len(stage.world.schedules.exist) == 2, "the schedules")
    released = asyncio.Event()

    async def wait_for_release() -> None:
        await released.wait()

    stage.world.schedules.before_delete = wait_for_release
    try:
        handle = await stage.tell(cancel(stage, 2))
        await until(lambda: stage.world.sender.to(2) == ["cancelled 1"], "the cancellation")
        assert len(stage.world.schedules.exist) == 2, "people first"
    finally:
        released.set()
    assert (await handle.result()).status is EventStatus.CANCELLED
    assert stage.world.schedules.exist == {}, "and none is left at the end"


async def test_schedules_that_cannot_be_changed_hold_up_no_message(stage: Stage) -> None:
    async def never(*_: object) -> None:
        raise TransientError("Temporal does not answer.")

    stage.world.events.subscribe(stage.event_id, 2)
    stage.world.schedules.create = never  # type: ignore[assignment, method-assign]
    await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
    await stage.tell(edit(stage, location="Hall 1"), announce(stage, "a", 2))
    await until(lambda: sorted(stage.world.sender.to(2)) == ["announcement a", "updated 1→2"], "both messages")


async def test_a_repeated_signal_is_ignored(stage: Stage) -> None:
    message = announce(stage, "once", 2)
    await stage.tell(message, message, announce(stage, "then", 2), message, announce(stage, "at last", 2))
    # Announcements go out one after the other: a repeated one would have come before the last.
    await until(lambda: "announcement at last" in stage.world.sender.to(2), "the last announcement")
    assert stage.world.sender.to(2) == ["announcement once", "announcement then", "announcement at last"]


async def test_a_participant_who_leaves_loses_the_schedules(stage: Stage) -> None:
    for person in (2, 3):
        stage.world.events.subscribe(stage.event_id, person)
    await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
    await until(lambda: len(stage.world.schedules.exist) == 4, "the schedules")
    stage.world.events.set_state(stage.event_id, 2, SubscriptionState.LEFT)
    await stage.tell(ParticipantRemoved(outbox_id=stage.number, subscription_id=2))
    await until(lambda: {key[1] for key in stage.world.schedules.exist} == {3}, "the deletion")
    await until(lambda: {key[0] for key in stage.world.reminders.noted[stage.event_id]} == {3}, "the note of it")


async def test_changed_offsets_change_only_what_differs(stage: Stage) -> None:
    stage.world.events.subscribe(stage.event_id, 2)
    await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
    await until(lambda: len(stage.world.schedules.exist) == 2, "the schedules")
    stage.world.events.subscribe(stage.event_id, 2, [timedelta(days=1), timedelta(minutes=30)])
    await stage.tell(ParticipantChanged(outbox_id=stage.number, subscription_id=2))
    wanted = {(stage.event_id, 2, DAY), (stage.event_id, 2, 1800)}
    await until(lambda: set(stage.world.schedules.exist) == wanted, "the new offsets")
    assert sorted(call[0] for call in stage.world.schedules.calls) == ["create", "create", "create", "delete"]


async def test_a_moved_start_moves_every_schedule_in_place(stage: Stage) -> None:
    for person in (2, 3):
        stage.world.events.subscribe(stage.event_id, person)
    await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
    await until(lambda: len(stage.world.schedules.exist) == 4, "the schedules")
    later = stage.world.events.all[stage.event_id].facts.start_date + timedelta(hours=1)
    await stage.tell(edit(stage, start_date=later))
    await until(lambda: set(stage.world.schedules.exist.values()) == {later}, "the move")
    assert [call[0] for call in stage.world.schedules.calls] == ["create"] * 4 + ["move"] * 4


async def test_a_broadcast_that_fails_never_fails_the_event(stage: Stage) -> None:
    async def broken(notification_id: int) -> None:
        raise PermanentError("The table is not ours.")

    good = stage.world.ledger.load_message
    stage.world.ledger.load_message = broken  # type: ignore[assignment, method-assign]
    await stage.tell(announce(stage, "lost", 2))
    await until(lambda: any(report.detail.get("failed") == 2 for report in stage.reports), "both failures")
    stage.world.ledger.load_message = good  # type: ignore[method-assign]
    handle = await stage.tell(announce(stage, "good", 2))
    await until(lambda: stage.world.sender.to(2) == ["announcement good"], "the next message")
    assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING


async def test_a_slow_answer_delays_the_next_message_only_so_long(temporal: Client, world: FakeWorld) -> None:
    policy = QUICK_POLICY.model_copy(update={"order_patience": timedelta(milliseconds=500)})
    async with staged(temporal, policy, in_two_days(), world) as stage:
        world.sender.answers(2, AttemptResult.UNAVAILABLE, retry_after=timedelta(hours=1))
        message = announce(stage, "a", 2, 3)
        handle = await stage.tell(message, cancel(stage, 2, 3))
        assert (await handle.result()).status is EventStatus.CANCELLED
        assert world.sender.to(3) == ["announcement a", "cancelled 1"]
        child = temporal.get_workflow_handle(broadcast_workflow_id(stage.event_id, message.notification_id))
        assert (await child.describe()).status is WorkflowExecutionStatus.RUNNING, "it ends on its own"
        await child.terminate()


async def test_what_is_tried_again_delays_the_next_message_to_nobody_else(temporal: Client, world: FakeWorld) -> None:
    policy = QUICK_POLICY.model_copy(update={"order_patience": timedelta(hours=1)})
    async with staged(temporal, policy, in_two_days(), world) as stage:
        world.sender.answers(2, AttemptResult.UNAVAILABLE, retry_after=timedelta(hours=1))
        slow = announce(stage, "a", 2, 3)
        handle = await stage.tell(slow, announce(stage, "b", 3))
        await until(lambda: world.sender.to(3) == ["announcement a", "announcement b"], "the next message")
        child = temporal.get_workflow_handle(broadcast_workflow_id(stage.event_id, slow.notification_id))
        assert (await child.describe()).status is WorkflowExecutionStatus.RUNNING, "it tries again by itself"
        assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
        await child.terminate()
        await end(stage)


async def test_a_message_that_is_tried_again_outlives_its_event(temporal: Client, world: FakeWorld) -> None:
    async with staged(temporal, QUICK_POLICY, in_two_days(), world) as stage:
        await stage.tell(announce(stage, "a", 3))
        await until(lambda: world.sender.to(3), "an earlier message")
        world.sender.hold = asyncio.Event()
        world.sender.arrived.clear()
        world.sender.answers(2, AttemptResult.UNAVAILABLE)
        message = announce(stage, "b", 2)
        handle = await stage.tell(message)
        await until(world.sender.arrived.is_set, "it is being sent")
        await handle.terminate()
        world.sender.hold.set()
        child = temporal.get_workflow_handle(broadcast_workflow_id(stage.event_id, message.notification_id))
        assert (await child.result())["counts"]["sent"] == 1


async def test_continuing_as_new_loses_nothing_and_repeats_nothing(temporal: Client, world: FakeWorld) -> None:
    policy = QUICK_POLICY.model_copy(update={"notifications_per_run": 2})
    async with staged(temporal, policy, in_two_days(), world) as stage:
        world.events.subscribe(stage.event_id, 2)
        world.sender.hold = asyncio.Event()
        first = announce(stage, "1", 2)
        handle = await stage.tell(first)
        await asyncio.wait_for(world.sender.arrived.wait(), PATIENCE_SECONDS)
        first_run = (await handle.describe()).run_id
        messages = [first, *(announce(stage, str(number), 2) for number in range(2, 7))]
        left = ParticipantRemoved(outbox_id=stage.number, subscription_id=2)
        changed = edit(stage, location="Hall 9")
        await stage.tell(*messages, first, left, changed, cancel(stage, 2))
        world.sender.hold.set()
        assert (await handle.result()).status is EventStatus.CANCELLED
        assert (await handle.describe()).run_id != first_run, "it was long enough to continue as new"
        assert world.sender.to(ORGANISER) == ["created 1"], "created is said once"
        assert world.sender.to(2) == [f"announcement {number}" for number in range(1, 7)] + ["cancelled 1"]
        assert world.schedules.exist == {}


async def test_an_update_that_waits_is_carried_over_continuing_as_new(temporal: Client, world: FakeWorld) -> None:
    policy = QUICK_POLICY.model_copy(update={"notifications_per_run": 2, "merge_window": timedelta(seconds=1)})
    async with staged(temporal, policy, in_two_days(), world) as stage:
        world.events.subscribe(stage.event_id, 2)
        handle = await stage.tell(edit(stage, location="Hall 1"), announce(stage, "a", 2), announce(stage, "b", 2))
        await until(lambda: len(world.sender.to(2)) == 3, "the update after two announcements")
        assert world.sender.to(2)[-1] == "updated 1→2"
        await handle.terminate()


async def test_an_event_completes_at_its_end_although_nobody_says_anything(
    skipping: WorkflowEnvironment, world: FakeWorld
) -> None:
    began = await skipping.get_current_time()
    async with staged(skipping.client, QUICK_POLICY, in_two_days(start_date=began + timedelta(days=2)), world) as stage:
        world.events.subscribe(stage.event_id, 2)
        handle = await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
        assert (await handle.result()).status is EventStatus.COMPLETED
        passed = await ended_at(handle) - began
        assert timedelta(days=2, hours=3) < passed < timedelta(days=2, hours=5), "start plus four hours"
        assert world.events.all[stage.event_id].status is EventStatus.COMPLETED
        assert world.schedules.exist == {}


async def test_the_end_is_computed_again_when_the_dates_change(skipping: WorkflowEnvironment, world: FakeWorld) -> None:
    now = await skipping.get_current_time()
    facts = in_two_days(start_date=now + timedelta(days=2), end_date=now + timedelta(days=3))
    async with staged(skipping.client, QUICK_POLICY, facts, world) as stage:
        with skipping.auto_time_skipping_disabled():
            await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
            handle = await stage.tell(edit(stage, start_date=now + timedelta(days=5), end_date=now + timedelta(days=6)))
            await until(lambda: bool(world.sender.sent), "the start")
        assert (await handle.result()).status is EventStatus.COMPLETED
        assert timedelta(days=6) <= await ended_at(handle) - now < timedelta(days=7)


async def test_a_new_end_that_nobody_told_is_read_before_completing(
    skipping: WorkflowEnvironment, world: FakeWorld
) -> None:
    now = await skipping.get_current_time()
    facts = in_two_days(start_date=now + timedelta(days=2), end_date=now + timedelta(days=3))
    async with staged(skipping.client, QUICK_POLICY, facts, world) as stage:
        with skipping.auto_time_skipping_disabled():
            handle = await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
            await until(lambda: bool(world.sender.sent), "the start")
            world.events.edit(stage.event_id, end_date=now + timedelta(days=9))
        await handle.result()
        assert timedelta(days=9) <= await ended_at(handle) - now < timedelta(days=10)


async def test_a_message_after_the_end_is_still_sent(stage: Stage) -> None:
    handle = await stage.tell(cancel(stage, 2))
    await handle.result()
    assert (await (await stage.tell(announce(stage, "sorry", 2))).result()).status is EventStatus.CANCELLED
    assert stage.world.sender.to(2) == ["cancelled 1", "announcement sorry"]
    assert stage.world.sender.to(ORGANISER) == [], "an event that is over is not created"
    created = stage.world.ledger.find(stage.event_id, Cause.CREATED)
    assert created is None or stage.world.ledger.messages[created].cancelled, "and no message is left open"


async def test_an_event_that_does_not_exist_ends_and_leaves_no_schedules(stage: Stage) -> None:
    del stage.world.events.all[stage.event_id]
    key = (stage.event_id, 2, HOUR)
    stage.world.schedules.exist[key] = in_two_days().start_date
    stage.world.reminders.noted[stage.event_id] = {(2, HOUR): in_two_days().start_date}
    handle = await stage.tell(ParticipantRemoved(outbox_id=stage.number, subscription_id=2))
    assert (await handle.result()).status is None, "nobody cancelled it"
    assert stage.world.schedules.exist == {}


async def test_every_message_carries_the_links_of_its_own_person(stage: Stage) -> None:
    await stage.tell(announce(stage, "a", 2, 3))
    await until(lambda: len(stage.world.sender.sent) == 3, "everything")
    for key, message in stage.world.sender.sent:
        assert isinstance(message, OutgoingMessage)
        assert message.unsubscribe_url.endswith(key.replace("channel:", "/"))
    # What was sent is written down a moment later.
    deliveries = stage.world.ledger.deliveries
    await until(lambda: {item.state for item in deliveries.values()} == {DeliveryState.SENT}, "the ledger")


async def test_people_hear_an_announcement_while_hundreds_sign_up(stage: Stage) -> None:
    """Their schedules are compared together, beside the messages; no signal is handled in more than a moment."""
    people = range(2, 602)
    for person in people:
        stage.world.events.subscribe(stage.event_id, person, [])
    await stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=2))
    await asyncio.gather(
        *(stage.tell(ParticipantAdded(outbox_id=stage.number, subscription_id=person)) for person in people)
    )
    handle = await stage.tell(announce(stage, "now", 2))
    await until(lambda: stage.world.sender.to(2) == ["announcement now"], "the announcement")
    history = await stage.client.get_workflow_handle(handle.id).fetch_history()
    begun = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in history.events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    assert sum(name.startswith("create_reminder_schedules") for name in begun) < 100
