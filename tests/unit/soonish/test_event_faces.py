"""What the pages of events decide without a database: forms, bars, calendars, words."""

from datetime import UTC, datetime, timedelta

import pytest
from icalendar import Calendar

from pressbox.core.errors import InvalidInputError
from pressbox.core.web import times
from pressbox.core.web.languages import locale_of, read_catalogs
from pressbox.soonish.domain.delivery import Cause, Level
from pressbox.soonish.domain.events import EventStatus, Visibility
from pressbox.soonish.domain.reminders import DEFAULT_OFFSETS, SubscriptionState
from pressbox.soonish.domain.views import CalendarEntry, Counts, EventView, MessageView, SubscriptionView
from pressbox.soonish.web import board, events, links, people, subscription
from pressbox.soonish.web.api_models import ChoiceChange, EventChange
from pressbox.soonish.web.board import MESSAGES_FOLLOWED, segments, topics_of
from pressbox.soonish.web.calendar import calendar
from pressbox.soonish.web.forms import (
    AnnouncementForm,
    EventForm,
    OffsetsForm,
    amount_of,
    offered_zones,
    offset_choices,
    seconds_of,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def event(**changes: object) -> EventView:
    values = {
        "id": 7,
        "slug": "k3v9x2",
        "name": "Summer party",
        "description": "Bring; something, and \\ more\nlines",
        "start_date": datetime(2026, 3, 28, 18, 30, tzinfo=UTC),
        "end_date": datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
        "ends_at": datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
        "location": "Hall 2",
        "timezone": "Europe/Berlin",
        "visibility": Visibility.PRIVATE,
        "status": EventStatus.ACTIVE,
        "version": 3,
        "organiser": "Ada",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return EventView(**(values | changes))  # type: ignore[arg-type]


def message(number: int = 1, recipients: int = 10, *, finished: bool = False, **counts: int) -> MessageView:
    return MessageView(
        id=number,
        event_id=7,
        event_slug="k3v9x2",
        cause=Cause.ANNOUNCEMENT,
        level=Level.INFO,
        title="",
        body="",
        changes=(),
        recipients=recipients,
        counts=Counts(**counts),
        created_at=NOW,
        finished_at=NOW if finished else None,
        cancelled_at=None,
    )


def test_an_event_and_its_form_say_the_same_across_a_change_of_clocks() -> None:
    form = EventForm.of(event())
    assert (form.start_date, form.end_date) == ("2026-03-28T19:30", "2026-03-29T03:30")
    facts = form.read().facts(datetime(2026, 1, 1, tzinfo=UTC))
    assert (facts.start_date, facts.end_date) == (event().start_date, event().end_date)
    assert form.read().visibility is Visibility.PRIVATE


@pytest.mark.parametrize(
    ("form", "field"),
    [
        (EventForm(name="A", timezone="UTC"), "start_date"),
        (EventForm(name="A", timezone="UTC", start_date="soon"), "start_date"),
        (EventForm(name="A", timezone="UTC", start_date="2026-11-21T19:30", end_date="later"), "end_date"),
        (EventForm(name="A", timezone="UTC", start_date="2026-11-21T19:30", visibility="all"), "visibility"),
    ],
)
def test_a_form_that_cannot_be_read_names_its_field(form: EventForm, field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        form.read()
    assert refused.value.field == field


def test_offsets_are_the_chips_and_one_own_value() -> None:
    assert OffsetsForm([3600], "25", 60).read() == (timedelta(hours=1), timedelta(minutes=25))
    assert OffsetsForm(None, " ", 60).read() == ()
    assert offset_choices([1500]) == [86_400, 3_600, 1_800, 1_500]
    assert seconds_of(None) == tuple(int(offset.total_seconds()) for offset in DEFAULT_OFFSETS)
    assert seconds_of(()) == ()


@pytest.mark.parametrize(
    ("amount", "unit"), [("x", 60), ("-1", 60), ("1.5", 3600), ("٣", 60), ("9" * 400, 60), ("1", 7)]
)
def test_an_amount_that_is_none_is_refused(amount: str, unit: int) -> None:
    with pytest.raises(InvalidInputError):
        amount_of(amount, unit, field="offsets")


def test_nobody_chosen_is_not_everybody() -> None:
    assert AnnouncementForm(text="x", to="some").read().subscription_ids == ()
    assert AnnouncementForm(text="x", to="all", subscription=[1]).read().subscription_ids is None
    with pytest.raises(InvalidInputError):
        AnnouncementForm(text="x", level="loud").read()


def test_the_bar_is_whole_and_counts_those_who_are_not_written_yet_as_waiting() -> None:
    parts = {part.state.value: part for part in segments(message(recipients=10, sent=4, failed=1))}
    assert parts["pending"].count == 5
    assert sum(part.width for part in parts.values()) == pytest.approx(100)
    assert parts["failed"].start == pytest.approx(40)
    over = {part.state.value: part.count for part in segments(message(recipients=10, sent=4, finished=True))}
    assert over["pending"] == 0
    assert sum(part.width for part in segments(message(recipients=0))) == 0


def test_a_board_follows_its_event_and_what_is_on_its_way_within_the_limit_of_the_stream() -> None:
    going = [message(number) for number in range(1, 40)]
    topics = topics_of(event(), [message(99, finished=True), *going]).split(",")
    assert topics[0] == "soonish.event:k3v9x2"
    assert len(topics) == MESSAGES_FOLLOWED + 1
    assert "soonish.notification:99" not in topics


def test_a_calendar_keeps_odd_characters_and_marks_what_is_cancelled() -> None:
    entry = CalendarEntry(
        uid="k3v9x2@pressbox",
        sequence=4,
        name="Löwen, Tiger; Bären",
        description="a\nb\\c, d;",
        location="Saal 2, hinten",
        start_date=event().start_date,
        ends_at=event().ends_at,
        timezone="Europe/Berlin",
        cancelled=True,
        updated_at=NOW,
        slug="k3v9x2",
    )
    (read,) = Calendar.from_ical(calendar("Mine", [entry], "https://press.example.org")).walk("VEVENT")
    assert (read["SUMMARY"], read["DESCRIPTION"], read["LOCATION"]) == (entry.name, entry.description, entry.location)
    assert (read["UID"], read.decoded("SEQUENCE"), read["STATUS"]) == (entry.uid, 4, "CANCELLED")
    assert read.decoded("DTSTART") == entry.start_date
    assert read["URL"] == "https://press.example.org/events/k3v9x2"
    assert calendar("Mine", [], "").startswith(b"BEGIN:VCALENDAR")


def test_a_change_over_the_api_keeps_what_it_does_not_name() -> None:
    stated = EventChange.model_validate({"location": "Hall 3"}).over(event())
    assert (stated.name, stated.location, stated.end_date) == ("Summer party", "Hall 3", event().end_date)
    assert EventChange.model_validate({"end_date": None}).over(event()).end_date is None
    kept = subscription_view(offsets=(timedelta(hours=1),))
    assert ChoiceChange.model_validate({}).over(kept).offsets == (timedelta(hours=1),)
    assert ChoiceChange.model_validate({"offsets": None}).over(kept).offsets is None
    assert ChoiceChange.model_validate({"offsets": []}).over(kept).offsets == ()


def subscription_view(offsets: tuple[timedelta, ...]) -> SubscriptionView:
    return SubscriptionView(
        id=1,
        event=event(),
        state=SubscriptionState.ACTIVE,
        offsets=offsets,
        channel_ids=(1,),
        tags=(),
        address="",
        too_late=(),
        reminders=(),
    )


def test_every_sentence_that_pages_take_from_code_is_translated() -> None:
    said = {
        *board.MESSAGES.values(),
        *events.MESSAGES.values(),
        *people.MESSAGES.values(),
        *people.RESULTS.values(),
        *subscription.MESSAGES.values(),
        links.MUTED,
    }
    catalogs = [
        found for package in ("pressbox.core.web", "pressbox.soonish") for found in read_catalogs(package, "de")
    ]
    known = {entry.id for catalog in catalogs for entry in catalog if entry.string}
    assert said - known == set()


def test_zones_that_people_know_are_offered() -> None:
    assert {"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"} <= set(offered_zones())
    assert "EST5EDT" not in offered_zones()


def test_times_in_a_zone_and_spans_are_said_exactly_in_both_languages() -> None:
    berlin, english, german = times.zone_of("Europe/Berlin"), locale_of("en"), locale_of("de")
    moment = datetime(2026, 3, 28, 18, 30, tzinfo=UTC)
    assert times.in_zone(moment, english, berlin) == "Sat 28 Mar 2026, 19:30"
    assert times.in_zone(moment + timedelta(hours=2), english, berlin, moment) == "21:30"
    assert times.in_zone(moment + timedelta(hours=6), english, berlin, moment) == "Sun 29 Mar 2026, 01:30"
    assert times.span(timedelta(days=1), german) == "1 Tag"
    assert times.span(timedelta(minutes=90), english) == "1 hour 30 minutes"
    assert times.span(timedelta(0), english) == "0 seconds"
