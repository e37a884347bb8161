"""Calendar files of real programs, and what a stranger could send instead of one."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.calendar_files import (
    MAX_BYTES,
    MAX_LINE_LENGTH,
    MAX_LINES,
    MAX_OFFERED,
    MAX_PARAMETERS,
    CalendarEntry,
    find_zone,
    offer_entries,
    read_calendar,
    read_file,
)
from pressbox.soonish.web.event_form import EventForm
from tests.shared_data import shared

BERLIN = "Europe/Berlin"
NOW = datetime(2026, 11, 1, tzinfo=UTC)
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
    party, before = read_calendar(OWN, BERLIN, NOW)
    assert (party.name, party.location, party.timezone) == ("Party, with a name that is folded", "Hall 2", BERLIN)
    assert party.start == datetime(2026, 11, 21, 18, 30, tzinfo=UTC)
    assert party.end == datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
    assert before.is_cancelled
    assert offer_entries([before, party], NOW) == [party]
    assert offer_entries([before, party], datetime(2027, 1, 1, tzinfo=UTC)) == [party, before]


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("Europe/Berlin", BERLIN),
        ("/freeassociation.sourceforge.net/Tzfile/Europe/Berlin", BERLIN),
        ("Eastern Standard Time", "America/New_York"),
        ("Nowhere", None),
        ("../../etc/passwd", None),
        ("", None),
        ("localtime", None),
        ("/somewhere.example/localtime", None),
        ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ("a/" * 20_000 + "Europe/Berlin", None),
    ],
)
def test_zones_are_found_by_the_names_that_programs_give_them(name: str, zone: str | None) -> None:
    assert find_zone(name) == zone


@pytest.mark.skipif(not RECORDED, reason="the recorded calendars are not here")
def test_every_recorded_calendar_is_read_and_fills_a_form() -> None:
    files = events = 0
    for file in RECORDED:
        entries = read_calendar(file.read_bytes()[:MAX_BYTES], BERLIN, NOW)
        files, events = files + bool(entries), events + len(entries)
        for entry in entries:
            stated = EventForm.from_calendar(entry).to_input()
            assert stated.name or not entry.name
            assert find_zone(entry.timezone), file.name
    # The others hold no event, or none with a start that a calendar has.
    assert (files >= 163, events >= 1558) == (True, True)


@pytest.mark.parametrize("data", [b"", b"\x00\xff\xfe", b"BEGIN:VEVENT", b"END:VEVENT\nEND:VEVENT", b"<html></html>"])
def test_what_is_no_calendar_has_no_events(data: bytes) -> None:
    assert read_calendar(data, BERLIN, NOW) == []
    with pytest.raises(InvalidInputError) as caught:
        read_file(data, BERLIN, NOW)
    assert caught.value.field == "calendar"


def test_a_file_that_is_too_large_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        read_calendar(b"x" * (MAX_BYTES + 1), BERLIN, NOW)


@given(st.binary(max_size=400))
def test_nothing_breaks_the_reader(noise: bytes) -> None:
    for entry in read_calendar(OWN[:200] + noise + OWN[200:], BERLIN, NOW):
        assert entry.start.tzinfo is not None
        assert find_zone(entry.timezone) == entry.timezone


def an_event(*lines: str) -> CalendarEntry:
    [entry] = read_calendar("\r\n".join(("BEGIN:VEVENT", *lines, "END:VEVENT")).encode(), BERLIN, NOW)
    return entry


def local(entry: CalendarEntry) -> tuple[str, str]:
    zone = ZoneInfo(entry.timezone)
    end = entry.end.astimezone(zone) if entry.end else None
    return f"{entry.start.astimezone(zone):%Y-%m-%d %H:%M}", f"{end:%Y-%m-%d %H:%M}" if end else ""


@pytest.mark.parametrize("folds", [MAX_LINES, MAX_LINES + 1])
def test_a_file_of_too_many_lines_is_refused_and_one_line_of_them_is_left_out(folds: int) -> None:
    lines = "BEGIN:VEVENT\nDTSTART:20261120T180000Z\nSUMMARY:Party\nEND:VEVENT\nX:" + "\n " * (folds - 5)
    data = lines.encode()
    if folds == MAX_LINES:
        assert [entry.name for entry in read_calendar(data, BERLIN, NOW)] == ["Party"]
    else:
        with pytest.raises(InvalidInputError) as caught:
            read_calendar(data, BERLIN, NOW)
        assert caught.value.field == "calendar"


@pytest.mark.parametrize(
    "line",
    [
        "DESCRIPTION:" + "x" * MAX_LINE_LENGTH,
        "DESCRIPTION:" + "x\r\n " * MAX_LINE_LENGTH,
        "DESCRIPTION" + ";A=b" * (MAX_PARAMETERS + 1) + ":x",
    ],
    ids=["long", "folded", "parameters"],
)
def test_a_line_beyond_all_measure_is_left_out_and_the_event_is_read(line: str) -> None:
    entry = an_event("DTSTART:20261120T180000Z", line, "SUMMARY:Party")
    assert (entry.name, entry.description) == ("Party", "")
    assert an_event("DTSTART:20261120T180000Z", "DESCRIPTION" + ";A=b" * MAX_PARAMETERS + ":x").description == "x"


@pytest.mark.parametrize(
    ("lines", "next_time"),
    [
        # By the clocks of its zone: at seven in the evening in summer and in winter.
        (("DTSTART;TZID=Europe/Berlin:20260506T190000", "RRULE:FREQ=WEEKLY;BYDAY=WE"), "2026-11-04 19:00"),
        (("DTSTART:20260506T170000Z", "RRULE:FREQ=WEEKLY;BYDAY=WE"), "2026-11-04 18:00"),
        (
            (
                "DTSTART;TZID=Europe/Berlin:20260506T190000",
                "RRULE:FREQ=WEEKLY",
                "EXDATE;TZID=Europe/Berlin:20261104T190000,20261111T190000",
                "EXDATE:20261118T180000Z",
            ),
            "2026-11-25 19:00",
        ),
        (("DTSTART;VALUE=DATE:20001224", "RRULE:FREQ=YEARLY"), "2026-12-24 00:00"),
        (("DTSTART;VALUE=DATE:20261031", "RRULE:FREQ=DAILY"), "2026-11-01 00:00"),
        (("DTSTART:20260101T120000Z", "RRULE:FREQ=MONTHLY;COUNT=30;INTERVAL=3"), "2027-01-01 13:00"),
        # What is over, and rules that are none or would never end, leave the time that is stated.
        (("DTSTART:20260506T170000Z", "RRULE:FREQ=WEEKLY;UNTIL=20261001T000000Z"), "2026-05-06 19:00"),
        (("DTSTART:20260506T170000Z", "RRULE:FREQ=SECONDLY"), "2026-05-06 19:00"),
        (("DTSTART:20260506T170000Z", "RRULE:FREQ=YEARLY;INTERVAL=0"), "2026-05-06 19:00"),
        (("DTSTART:20260506T170000Z", "RRULE:FREQ=DAILY;BYDAY=XX"), "2026-05-06 19:00"),
        (("DTSTART:20260506T170000Z", "RRULE:"), "2026-05-06 19:00"),
        (("DTSTART:20260506T170000Z", "RRULE:FREQ=DAILY;INTERVAL=" + "9" * 300), "2026-05-06 19:00"),
    ],
)
def test_an_event_that_repeats_has_its_next_time(lines: tuple[str, ...], next_time: str) -> None:
    entry = an_event(*lines)
    assert (local(entry)[0], entry.repeats) == (next_time, True)


def test_an_occurrence_that_was_moved_is_an_event_of_its_own() -> None:
    file = b"""BEGIN:VEVENT
UID:1
SUMMARY:Choir
DTSTART;TZID=Europe/Berlin:20260506T190000
DTEND;TZID=Europe/Berlin:20260506T203000
RRULE:FREQ=WEEKLY
END:VEVENT
BEGIN:VEVENT
UID:1
SUMMARY:Choir
RECURRENCE-ID;TZID=Europe/Berlin:20261104T190000
DTSTART;TZID=Europe/Berlin:20261105T190000
END:VEVENT
"""
    series, moved = read_calendar(file, BERLIN, NOW)
    assert (local(series), series.repeats) == (("2026-11-11 19:00", "2026-11-11 20:30"), True)
    assert (local(moved), moved.repeats) == (("2026-11-05 19:00", ""), False)


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        (("DTSTART;VALUE=DATE:20261120",), ("2026-11-20 00:00", "2026-11-21 00:00")),
        (
            ("DTSTART;VALUE=DATE:20261120", "DTEND;VALUE=DATE:20261123"),
            ("2026-11-20 00:00", "2026-11-23 00:00"),
        ),
    ],
)
def test_an_event_of_whole_days_keeps_its_dates_and_says_so(lines: tuple[str, ...], times: tuple[str, str]) -> None:
    entry = an_event(*lines)
    assert (local(entry), entry.all_day, entry.timezone) == (times, True, BERLIN)
    assert not an_event("DTSTART:20261120T180000Z").all_day


def test_of_many_events_those_that_come_next_are_offered() -> None:
    starts = [NOW + timedelta(days=days) for days in range(-5, 2 * MAX_OFFERED)]
    file = "".join(f"BEGIN:VEVENT\nDTSTART:{start:%Y%m%dT%H%M%SZ}\nEND:VEVENT\n" for start in reversed(starts))
    read = read_file(file.encode(), BERLIN, NOW)
    assert read.count == len(starts)
    assert [entry.start for entry in read.offered] == starts[6 : 6 + MAX_OFFERED]
