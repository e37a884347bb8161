"""Decisions of an event's life, and what is carried over continue-as-new."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pressbox.soonish.contracts import (
    EventCancelled,
    EventUpdated,
    EventWorkflowInput,
    EventWorkflowState,
    ManualNotificationSent,
    ParticipantAdded,
    ParticipantChanged,
    ParticipantRemoved,
)
from pressbox.soonish.domain.lifecycle import KnownIds, PendingUpdate, add_edit, count_shards, next_wake_time
from pressbox.soonish.domain.reminders import ReminderOutcome, WantedReminder, message_version, summarise_outcome
from pressbox.soonish.workflows.mailbox import Mailbox

NOW = datetime(2027, 5, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def test_the_window_opens_with_the_first_edit_and_does_not_grow() -> None:
    first = add_edit(None, 2, announced=1, now=NOW, window=MINUTE)
    assert first == PendingUpdate(1, NOW + MINUTE)
    assert add_edit(first, 3, announced=1, now=NOW + MINUTE / 2, window=MINUTE) == first


def test_an_edit_that_people_already_heard_of_opens_nothing() -> None:
    assert add_edit(None, 4, announced=4, now=NOW, window=MINUTE) is None


def test_a_run_that_began_late_compares_with_the_version_before_the_edit() -> None:
    assert add_edit(None, 9, announced=1, now=NOW, window=MINUTE) == PendingUpdate(8, NOW + MINUTE)


def test_the_next_moment_is_the_earlier_one() -> None:
    end = NOW + timedelta(hours=4)
    assert next_wake_time(end, None) == end
    assert next_wake_time(end, PendingUpdate(1, NOW)) == NOW
    assert next_wake_time(NOW, PendingUpdate(1, end)) == NOW


@given(st.lists(st.integers(min_value=1, max_value=50)))
def test_every_signal_is_handled_once(numbers: list[int]) -> None:
    mailbox = Mailbox(EventWorkflowState())
    for number in numbers:
        mailbox.put(ParticipantAdded(outbox_id=number, subscription_id=1))
    queue = mailbox.state(started=True, notifications=0, replan=False).queue
    assert [message.outbox_id for message in queue] == list(dict.fromkeys(numbers))


def test_only_the_newest_numbers_are_kept() -> None:
    known = KnownIds((1, 2, 3), limit=3)
    assert (known.add(4), known.add(4), known.list_all()) == (True, False, (2, 3, 4))


def test_every_kind_of_message_survives_continue_as_new_as_itself() -> None:
    messages = (
        ParticipantAdded(outbox_id=1, subscription_id=1),
        ParticipantRemoved(outbox_id=2, subscription_id=1),
        ParticipantChanged(outbox_id=3, subscription_id=1),
        EventUpdated(outbox_id=4, version=2),
        ManualNotificationSent(outbox_id=5, notification_id=1),
        EventCancelled(outbox_id=6, notification_id=1),
    )
    mailbox = Mailbox(EventWorkflowState())
    for message in messages:
        mailbox.put(message)
    mailbox.note_edit(7, NOW, MINUTE)
    sent = EventWorkflowInput(event_id=1, state=mailbox.state(started=True, notifications=3, replan=False))
    received = EventWorkflowInput.model_validate_json(sent.model_dump_json())
    assert received == sent
    assert [type(message) for message in received.state.queue] == [type(message) for message in messages]
    assert Mailbox(received.state).pending == PendingUpdate(6, NOW + MINUTE)


def test_a_moved_start_is_a_new_message_and_the_same_start_the_same_one() -> None:
    reminder = WantedReminder(2, timedelta(hours=1), NOW)
    assert message_version(reminder) == "2-3600s-20270501T120000Z"
    assert message_version(WantedReminder(2, timedelta(hours=1), NOW + MINUTE)) != message_version(reminder)


def test_the_best_delivery_decides_the_outcome() -> None:
    assert summarise_outcome(sent=1, uncertain=1, failed=1) is ReminderOutcome.SENT
    assert summarise_outcome(sent=0, uncertain=1, failed=1) is ReminderOutcome.UNCERTAIN
    assert summarise_outcome(sent=0, uncertain=0, failed=1) is ReminderOutcome.FAILED
    assert summarise_outcome(sent=0, uncertain=0, failed=0) is ReminderOutcome.NO_TARGETS


def test_a_message_has_a_shard_for_every_page_up_to_a_limit() -> None:
    assert [count_shards(people, 500, 8) for people in (0, 1, 500, 501, 4_000, 1_000_000)] == [1, 1, 1, 2, 8, 8]
