"""What an event is, what changed, and what messages say about it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.events import EventFacts, EventStatus, list_changes, validate
from pressbox.soonish.domain.messages import (
    write_cancellation,
    write_creation,
    write_reminder,
    write_requested_reminder,
    write_update,
)

START = datetime(2027, 5, 1, 17, 30, tzinfo=UTC)
FAIR = EventFacts("Summer fair", START, "Europe/Berlin", location="Town hall")
HOUR = timedelta(hours=1)


def test_an_event_without_an_end_is_over_after_four_hours() -> None:
    assert FAIR.ends_at == START + 4 * HOUR
    assert replace(FAIR, end_date=START + HOUR).ends_at == START + HOUR


def test_what_is_stated_is_trimmed() -> None:
    stated = replace(FAIR, name=" Summer fair ", description=" a\n", location=" Town hall ")
    assert validate(stated) == replace(FAIR, description="a")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"description": "x" * 10_001}, "description"),
        ({"location": "x" * 10_001}, "location"),
        ({"timezone": "Nowhere"}, "timezone"),
        ({"timezone": "localtime"}, "timezone"),
        ({"end_date": START}, "end_date"),
    ],
)
def test_a_wrong_field_is_named(wrong: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        validate(replace(FAIR, **wrong))  # type: ignore[arg-type]
    assert caught.value.field == field


def test_the_same_facts_have_no_changes() -> None:
    assert list_changes(FAIR, replace(FAIR)) == ()


def test_changes_are_shown_from_old_to_new_in_the_new_zone() -> None:
    moved = replace(FAIR, start_date=START + HOUR, location="", end_date=START + 3 * HOUR)
    assert [str(change) for change in list_changes(FAIR, moved)] == [
        "Start: Sat 1 May 2027, 19:30 (Europe/Berlin) → Sat 1 May 2027, 20:30 (Europe/Berlin)",
        "End: none → Sat 1 May 2027, 22:30 (Europe/Berlin)",
        "Location: Town hall → none",
    ]
    abroad = replace(FAIR, timezone="America/New_York", start_date=START + HOUR)
    assert [str(change) for change in list_changes(FAIR, abroad)] == [
        "Start: Sat 1 May 2027, 13:30 (America/New_York) → Sat 1 May 2027, 14:30 (America/New_York)",
        "Time zone: Europe/Berlin → America/New_York",
    ]


def test_every_message_names_the_event_and_its_local_time() -> None:
    when = "When: Sat 1 May 2027, 19:30 (Europe/Berlin)\nWhere: Town hall"
    for text in (
        write_creation(FAIR),
        write_cancellation(FAIR),
        write_reminder(FAIR, HOUR, FAIR.start_date - HOUR),
        write_requested_reminder(FAIR),
    ):
        assert "Summer fair" in text.title
        assert text.body.endswith(when)
    assert "Where" not in write_cancellation(replace(FAIR, location="")).body
    assert write_update(FAIR, list_changes(FAIR, replace(FAIR, name="Fair"))).body.endswith(
        "• Name: Summer fair → Fair"
    )


@pytest.mark.parametrize(
    ("offset", "title"),
    [
        (timedelta(days=1), "Summer fair is tomorrow"),
        (HOUR, "Summer fair starts in 1 hour"),
        (timedelta(minutes=25), "Summer fair starts in 25 minutes"),
        (timedelta(days=2), "Summer fair starts in 2 days"),
    ],
)
def test_a_reminder_says_how_long_it_is_until_the_start(offset: timedelta, title: str) -> None:
    assert write_reminder(FAIR, offset, FAIR.start_date - offset).title == title


def test_only_cancelled_and_completed_events_are_over() -> None:
    assert [status.is_over for status in EventStatus] == [False, False, True, True]


@pytest.mark.parametrize(
    ("offset", "left", "words"),
    [
        (timedelta(minutes=15), timedelta(minutes=6), "starts in 6 minutes"),
        (timedelta(minutes=15), timedelta(minutes=14, seconds=40), "starts in 15 minutes"),
        (timedelta(minutes=1), timedelta(seconds=20), "starts in 1 minute"),
        (timedelta(hours=1), timedelta(minutes=50, seconds=2), "starts in 50 minutes"),
        (timedelta(days=1), timedelta(hours=23, minutes=52), "is tomorrow"),
        (timedelta(days=1), timedelta(hours=3), "starts in 3 hours"),
    ],
)
def test_a_late_reminder_says_how_much_time_is_really_left(offset: timedelta, left: timedelta, words: str) -> None:
    assert write_reminder(FAIR, offset, FAIR.start_date - left).title == f"{FAIR.name} {words}"


def test_a_day_of_25_hours_makes_no_tomorrow_of_today() -> None:
    late = replace(FAIR, start_date=datetime(2026, 10, 25, 22, 30, tzinfo=UTC), end_date=None)
    text = write_reminder(late, timedelta(days=1), late.start_date - timedelta(days=1))
    assert text.title.endswith("starts in 1 day"), "it is 00:30 of the same day in Berlin"
