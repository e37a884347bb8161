"""What the pages of events decide without a database: forms, bars, calendars, words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from icalendar import Calendar

from pressbox.core.errors import InvalidInputError
from pressbox.core.web import times
from pressbox.core.web.languages import locale_of, read_catalogs
from pressbox.delivery.domain.attempts import Level
from pressbox.soonish.domain.delivery import Cause, DeliveryCounts, MessageState
from pressbox.soonish.domain.events import EventStatus, Visibility
from pressbox.soonish.domain.reminders import DEFAULT_OFFSETS, SubscriptionState
from pressbox.soonish.domain.times import to_utc
from pressbox.soonish.domain.views import EventView, MessageView, SubscriptionView
from pressbox.soonish.service.inputs import EventInput
from pressbox.soonish.web import board, channels, events, links, subscription_page
from pressbox.soonish.web.api_events import EventChange
from pressbox.soonish.web.api_subscriptions import PreferencesChange
from pressbox.soonish.web.board import MESSAGES_FOLLOWED, build_segments, list_topics
from pressbox.soonish.web.calendar import build_calendar
from pressbox.soonish.web.event_form import EventForm, offered_zones
from pressbox.soonish.web.forms import (
    AnnouncementForm,
    OffsetsForm,
    offset_choices,
    offset_seconds,
    parse_duration,
)

BERLIN = "Europe/Berlin"
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
        "organises": False,
        "subscription_id": None,
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
        state=MessageState.SENT if finished else MessageState.SENDING,
        counts=DeliveryCounts.from_states(counts),
        created_at=NOW,
        finished_at=NOW if finished else None,
        cancelled_at=None,
    )


def test_an_event_and_its_form_say_the_same_across_a_change_of_clocks() -> None:
    form = EventForm.of(event())
    assert (form.start_date, form.end_date) == ("2026-03-28T19:30", "2026-03-29T03:30")
    facts = form.to_input().to_facts(datetime(2026, 1, 1, tzinfo=UTC))
    assert (facts.start_date, facts.end_date) == (event().start_date, event().end_date)
    assert form.to_input().visibility is Visibility.PRIVATE


@pytest.mark.parametrize("hour", [0, 1])
@pytest.mark.parametrize("second", [0, 17])
def test_an_event_in_the_hour_that_comes_twice_stays_where_it_is_when_edited(hour: int, second: int) -> None:
    start = datetime(2026, 10, 25, hour, 30, second, tzinfo=UTC)
    found = event(start_date=start, end_date=start + timedelta(minutes=20), ends_at=start + timedelta(minutes=20))
    form = EventForm.of(found)
    assert form.start_comes_twice
    for edited in (None, found):
        stated = form.to_input(edited)
        assert to_utc(stated.start_date, stated.timezone) == start
        assert stated.end_date
        assert to_utc(stated.end_date, stated.timezone) == found.end_date


def test_a_fraction_of_a_second_that_no_form_shows_is_kept() -> None:
    found = event(start_date=datetime(2026, 11, 20, 18, 30, 5, 250_000, tzinfo=UTC), end_date=None)
    assert EventForm.of(found).to_input(found).start_date == found.start_date


def test_after_another_time_was_typed_the_second_one_is_no_longer_meant() -> None:
    found = event(start_date=datetime(2026, 10, 25, 1, 30, tzinfo=UTC), end_date=None)
    moved = replace(EventForm.of(found), start_date="2026-10-25T02:45").to_input(found)
    assert to_utc(moved.start_date, BERLIN) == datetime(2026, 10, 25, 0, 45, tzinfo=UTC)
    first = replace(EventForm.of(found), start_second="").to_input(found)
    assert to_utc(first.start_date, BERLIN) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_a_time_that_comes_twice_is_shown_with_the_name_of_its_clock() -> None:
    zone, english = times.zone_of(BERLIN), locale_of("en")
    shown = [times.in_zone(datetime(2026, 10, 25, hour, 30, tzinfo=UTC), english, zone) for hour in (0, 1, 2)]
    assert shown == ["Sun 25 Oct 2026, 02:30 CEST", "Sun 25 Oct 2026, 02:30 CET", "Sun 25 Oct 2026, 03:30"]


def test_forms_that_say_the_same_have_no_differences() -> None:
    form = EventForm.of(event())
    assert form.list_differences(event()) == []
    typed = replace(form, name="Winter party", description="Bring; something, and \\ more\r\nlines")
    assert [(item.field, item.saved, item.stated) for item in typed.list_differences(event())] == [
        ("name", "Summer party", "Winter party")
    ]


def test_a_form_that_is_sent_twice_has_one_key_and_one_that_was_changed_another() -> None:
    form = replace(EventForm.of(event()), key="a1b2")
    assert form.to_input().request_key == form.to_input().request_key
    assert form.to_input().request_key != replace(form, name="Winter party").to_input().request_key
    assert replace(form, key="").to_input().request_key is None
    note = AnnouncementForm(text="Room 5", key="a1b2")
    assert note.to_input().request_key == note.to_input().request_key
    assert note.to_input().request_key != replace(note, text="Room 6").to_input().request_key


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
        form.to_input()
    assert refused.value.field == field


def test_offsets_are_the_chips_and_one_own_value() -> None:
    assert OffsetsForm([3600], "25", 60).to_offsets() == (timedelta(hours=1), timedelta(minutes=25))
    assert OffsetsForm(None, " ", 60).to_offsets() == ()
    assert offset_choices([1500]) == [86_400, 3_600, 1_800, 1_500]
    assert offset_seconds(None) == tuple(int(offset.total_seconds()) for offset in DEFAULT_OFFSETS)
    assert offset_seconds(()) == ()


@pytest.mark.parametrize(
    ("amount", "unit"), [("x", 60), ("-1", 60), ("1.5", 3600), ("٣", 60), ("9" * 400, 60), ("1", 7)]
)
def test_an_amount_that_is_none_is_refused(amount: str, unit: int) -> None:
    with pytest.raises(InvalidInputError):
        parse_duration(amount, unit, field="offsets")


def test_nobody_chosen_is_not_everybody() -> None:
    assert AnnouncementForm(text="x", to="some").to_input().subscription_ids == ()
    assert AnnouncementForm(text="x", to="all", subscription=[1]).to_input().subscription_ids is None
    with pytest.raises(InvalidInputError):
        AnnouncementForm(text="x", level="loud").to_input()


def test_the_bar_is_whole_and_counts_those_who_are_not_written_yet_as_waiting() -> None:
    parts = {part.state.value: part for part in build_segments(message(recipients=10, sent=4, failed=1))}
    assert parts["pending"].count == 5
    assert sum(part.width for part in parts.values()) == pytest.approx(100)
    assert parts["failed"].start == pytest.approx(40)
    over = {part.state.value: part.count for part in build_segments(message(recipients=10, sent=4, finished=True))}
    assert over["pending"] == 0
    assert sum(part.width for part in build_segments(message(recipients=0))) == 0


def test_a_board_follows_its_event_and_what_is_on_its_way_within_the_limit_of_the_stream() -> None:
    going = [message(number) for number in range(1, 40)]
    topics = list_topics(event(), [message(99, finished=True), *going]).split(",")
    assert topics[0] == "soonish.event:k3v9x2"
    assert len(topics) == MESSAGES_FOLLOWED + 1
    assert "soonish.notification:99" not in topics


def test_a_calendar_keeps_odd_characters_and_marks_what_is_cancelled() -> None:
    odd = event(
        name="Löwen, Tiger; Bären",
        description="a\nb\\c, d;",
        location="Saal 2, hinten",
        version=4,
        status=EventStatus.CANCELLED,
    )
    (read,) = Calendar.from_ical(build_calendar("Mine", [odd], "https://press.example.org")).walk("VEVENT")
    assert (read["SUMMARY"], read["DESCRIPTION"], read["LOCATION"]) == (odd.name, odd.description, odd.location)
    assert (read["UID"], read.decoded("SEQUENCE"), read["STATUS"]) == ("k3v9x2@pressbox", 4, "CANCELLED")
    assert read.decoded("DTSTART") == odd.start_date
    assert read["URL"] == "https://press.example.org/events/k3v9x2"
    assert build_calendar("Mine", [], "").startswith(b"BEGIN:VCALENDAR")


def test_a_change_over_the_api_keeps_what_it_does_not_name() -> None:
    before = EventInput("Summer party", event().start_date, BERLIN, event().end_date, visibility=Visibility.LISTED)
    stated = EventChange.model_validate({"location": "Hall 3", "name": None}).apply_to(before)
    assert stated == replace(before, location="Hall 3")
    assert EventChange.model_validate({"end_date": None, "version": 4}).apply_to(before) == replace(
        before, end_date=None, version=4
    )
    kept = subscription_view(offsets=(timedelta(hours=1),))
    assert PreferencesChange.model_validate({}).apply_to(kept).offsets == (timedelta(hours=1),)
    assert PreferencesChange.model_validate({"offsets": None}).apply_to(kept).offsets is None
    assert PreferencesChange.model_validate({"offsets": []}).apply_to(kept).offsets == ()


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
        *channels.MESSAGES.values(),
        *channels.RESULTS.values(),
        *subscription_page.MESSAGES.values(),
        *links.MESSAGES.values(),
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
