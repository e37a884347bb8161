"""Which reminders should exist, and what must change so that they do."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import (
    CATCH_UP_WINDOW,
    DEFAULT_OFFSETS,
    MAX_OFFSETS,
    Circumstances,
    ReminderOutcome,
    ScheduleDifference,
    Subscriber,
    SubscriptionState,
    WantedReminder,
    compare_schedules,
    find_refusal,
    message_version,
    plan_reminders,
    validate_offsets,
)

START = datetime(2027, 5, 1, 17, 30, tzinfo=UTC)
NOW = START - timedelta(days=10)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ACTIVE = SubscriptionState.ACTIVE
DUE = Circumstances(EventStatus.ACTIVE, START, ACTIVE)

SUBSCRIBERS = st.lists(
    st.builds(
        Subscriber,
        st.integers(1, 8),
        st.sampled_from(SubscriptionState),
        st.none()
        | st.lists(st.integers(60, 10_000), unique=True, max_size=4).map(
            lambda seconds: tuple(timedelta(seconds=item) for item in seconds)
        ),
    ),
    unique_by=lambda subscriber: subscriber.subscription_id,
    max_size=8,
)
EXISTING = st.dictionaries(
    st.tuples(st.integers(1, 8), st.integers(60, 10_000)), st.sampled_from((START, START + HOUR)), max_size=12
)


def test_no_choice_means_the_default_and_an_empty_choice_means_none() -> None:
    people = [Subscriber(1, ACTIVE, None), Subscriber(2, ACTIVE, ()), Subscriber(3, ACTIVE, (HOUR,))]
    wanted = plan_reminders(EventStatus.ACTIVE, START, people, NOW).wanted
    assert [reminder.key for reminder in wanted] == [(1, 86_400), (1, 3_600), (3, 3_600)]
    assert {reminder.fire_at for reminder in wanted} == {START - DAY, START - HOUR}


def test_an_offset_in_the_past_is_reported() -> None:
    found = plan_reminders(EventStatus.ACTIVE, START, [Subscriber(1, ACTIVE, None)], START - 2 * HOUR)
    assert [reminder.offset for reminder in found.wanted] == [HOUR]
    assert [str(late) for late in found.too_late] == ["too late for 1 day"]


@pytest.mark.parametrize("status", [status for status in EventStatus if status is not EventStatus.ACTIVE])
def test_an_event_that_is_not_active_reminds_nobody(status: EventStatus) -> None:
    assert plan_reminders(status, START, [Subscriber(1, ACTIVE, None)], NOW).wanted == ()


@given(SUBSCRIBERS, EXISTING, st.timedeltas(timedelta(0), timedelta(hours=4)))
def test_after_the_difference_exactly_the_wanted_ones_exist(
    people: Sequence[Subscriber], existing: dict[tuple[int, int], datetime], before: timedelta
) -> None:
    wanted = plan_reminders(EventStatus.ACTIVE, START, people, START - before).wanted
    change = compare_schedules(wanted, existing)
    after = {key: start for key, start in existing.items() if key not in change.delete}
    assert not {reminder.key for reminder in change.create} & set(existing), "nothing is created twice"
    assert {reminder.key for reminder in change.move} <= set(existing)
    after |= {reminder.key: reminder.start_date for reminder in (*change.create, *change.move)}
    assert after == {reminder.key: START for reminder in wanted}
    assert compare_schedules(wanted, after) == ScheduleDifference((), (), ()), "a second time there is nothing to do"
    touched = {reminder.key for reminder in (*change.create, *change.move)} | set(change.delete)
    assert len(touched) == len(change.create) + len(change.move) + len(change.delete)


@given(SUBSCRIBERS)
def test_only_active_subscribers_are_reminded_and_never_too_late(people: Sequence[Subscriber]) -> None:
    now = START - HOUR
    found = plan_reminders(EventStatus.ACTIVE, START, people, now)
    active = {subscriber.subscription_id for subscriber in people if subscriber.state is ACTIVE}
    assert {reminder.subscription_id for reminder in found.wanted} <= active
    assert all(reminder.fire_at > now for reminder in found.wanted)
    offsets = sum(
        len(DEFAULT_OFFSETS if subscriber.offsets is None else subscriber.offsets)
        for subscriber in people
        if subscriber.state is ACTIVE
    )
    assert len(found.wanted) + len(found.too_late) == offsets, "none is dropped in silence"


def test_offsets_are_kept_once_and_the_largest_first() -> None:
    assert validate_offsets(None) is None
    assert validate_offsets([]) == ()
    assert validate_offsets([HOUR, DAY, HOUR]) == (DAY, HOUR)
    assert validate_offsets([timedelta(seconds=60), timedelta(days=365)]) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        [timedelta(seconds=59)],
        [timedelta(days=365, seconds=1)],
        [timedelta(seconds=90, microseconds=1)],
        [-HOUR],
        [timedelta(minutes=minute) for minute in range(1, MAX_OFFSETS + 2)],
    ],
)
def test_offsets_have_limits(wrong: list[timedelta]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        validate_offsets(wrong)
    assert caught.value.field == "offsets"


@pytest.mark.parametrize(
    ("circumstances", "now", "outcome"),
    [
        (DUE, START - HOUR, None),
        (DUE, START - HOUR + CATCH_UP_WINDOW, None),
        (DUE, START - HOUR + CATCH_UP_WINDOW + timedelta(seconds=1), ReminderOutcome.MISSED),
        (DUE, START, ReminderOutcome.STARTED),
        (Circumstances(None, None, None), START - HOUR, ReminderOutcome.EVENT_GONE),
        (Circumstances(EventStatus.CANCELLED, START, ACTIVE), START - HOUR, ReminderOutcome.CANCELLED),
        (Circumstances(EventStatus.ACTIVE, START + HOUR, ACTIVE), START - HOUR, ReminderOutcome.MOVED),
        (Circumstances(EventStatus.ACTIVE, START, None), START - HOUR, ReminderOutcome.LEFT),
        (Circumstances(EventStatus.ACTIVE, START, SubscriptionState.LEFT), START - HOUR, ReminderOutcome.LEFT),
        (Circumstances(EventStatus.ACTIVE, START, SubscriptionState.PENDING), START - HOUR, ReminderOutcome.LEFT),
        (Circumstances(EventStatus.ACTIVE, START, SubscriptionState.MUTED), START - HOUR, ReminderOutcome.MUTED),
    ],
)
def test_at_its_moment_a_reminder_asks_whether_it_is_still_wanted(
    circumstances: Circumstances, now: datetime, outcome: ReminderOutcome | None
) -> None:
    assert find_refusal(START, HOUR, circumstances, now) == outcome


def test_a_moved_start_is_a_new_message_and_nothing_else_is() -> None:
    first = WantedReminder(1, HOUR, START)
    others = [WantedReminder(2, HOUR, START), WantedReminder(1, DAY, START), WantedReminder(1, HOUR, START + HOUR)]
    assert message_version(first) == message_version(WantedReminder(1, HOUR, START))
    assert message_version(first) not in {message_version(other) for other in others}
