"""Calendar files of real programs, and what a stranger could send instead of one."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.calendar_files import MAX_BYTES, choose_entry, find_zone, read_calendar
from pressbox.soonish.web.event_form import EventForm
from tests.shared_data import shared

BERLIN = "Europe/Berlin"
FOLDER = shared("providers/calendars")
RECORDED = sorted(FOLDER.glob("*.ics")) if FOLDER else []
OWN = b"""BEGIN:VCALENDAR\r
BEGIN:VEVENT\r
DTSTART;TZID="W. Europe Standard Time":20261121T193000\r
DURATION:PT1H30M\r
SUMMARY:Party\\, with a name that is\r
  folded\r
LOCATION:Hall 2\r
BEGIN:VALARM\r
SUMMARY:not this one\r
END:VALARM\r
END:VEVENT\r
BEGIN:VEVENT\r
DTSTART:20261120T180000Z\r
SUMMARY:Before\r
STATUS:CANCELLED\r
END:VEVENT\r
END:VCALENDAR\r
"""


def test_a_file_is_read_with_zones_folds_escapes_and_lengths() -> None:
    party, before = read_calendar(OWN, BERLIN)
    assert (party.name, party.location, party.timezone) == ("Party, with a name that is folded", "Hall 2", BERLIN)
    assert party.start == datetime(2026, 11, 21, 18, 30, tzinfo=UTC)
    assert party.end == datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
    assert before.is_cancelled
    assert choose_entry([before, party], datetime(2026, 11, 1, tzinfo=UTC)) == party


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("Europe/Berlin", BERLIN),
        ("/freeassociation.sourceforge.net/Tzfile/Europe/Berlin", BERLIN),
        ("Eastern Standard Time", "America/New_York"),
        ("Nowhere", None),
        ("../../etc/passwd", None),
        ("", None),
    ],
)
def test_zones_are_found_by_the_names_that_programs_give_them(name: str, zone: str | None) -> None:
    assert find_zone(name) == zone


@pytest.mark.skipif(not RECORDED, reason="the recorded calendars are not here")
def test_every_recorded_calendar_is_read_and_fills_a_form() -> None:
    files = events = 0
    for file in RECORDED:
        entries = read_calendar(file.read_bytes()[:MAX_BYTES], BERLIN)
        files, events = files + bool(entries), events + len(entries)
        for entry in entries:
            stated = EventForm.from_calendar(entry).to_input()
            assert stated.name or not entry.name
            assert find_zone(entry.timezone), file.name
    # The others hold no event, or none with a start that a calendar has.
    assert (files >= 163, events >= 1558) == (True, True)


@pytest.mark.parametrize("data", [b"", b"\x00\xff\xfe", b"BEGIN:VEVENT", b"END:VEVENT\nEND:VEVENT", b"<html></html>"])
def test_what_is_no_calendar_has_no_events(data: bytes) -> None:
    assert read_calendar(data, BERLIN) == []
    with pytest.raises(InvalidInputError) as caught:
        choose_entry([], datetime.now(UTC))
    assert caught.value.field == "calendar"


def test_a_file_that_is_too_large_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        read_calendar(b"x" * (MAX_BYTES + 1), BERLIN)


@given(st.binary(max_size=400))
def test_nothing_breaks_the_reader(noise: bytes) -> None:
    for entry in read_calendar(OWN[:200] + noise + OWN[200:], BERLIN):
        assert entry.start.tzinfo is not None
        assert find_zone(entry.timezone) == entry.timezone
