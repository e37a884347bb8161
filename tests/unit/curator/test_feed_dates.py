"""Dates as the feeds of the world write them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from babel import Locale
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.feeds.dates import EARLIEST, is_believable, parse_date

# Those that most feeds are written in; in others a name may mean another month in one of these.
LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "nb", "fi", "pl", "cs", "ru", "uk", "tr", "el", "ro")
CASES = (str, str.lower, str.upper, str.title)
FORMS = (
    "{day} {month} {year}",
    "{day:02} {month} {year} 15:05",
    "{day}. {month} {year} 15:05:00",
    "{weekday}, {day:02} {month} {year} 15:05:00 GMT",
    "{weekday}, {day:02} {month} {year} 16:05:00 +0100",
    "{day}-{month}-{year}",
    "{month} {day}, {year}",
    "{month} {day}, {year} 15:05",
)


def months_of(language: str) -> Iterator[tuple[int, str]]:
    months = Locale(language).months
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            yield from ((number, name) for number, name in months[context][width].items() if not name.isdigit())


NAMES = sorted({(language, number, name) for language in LANGUAGES for number, name in months_of(language)})
MEANINGS = {
    name.lower().strip("."): {
        number for _, number, other in NAMES if other.lower().strip(".") == name.lower().strip(".")
    }
    for _, _, name in NAMES
}


@pytest.mark.parametrize(
    "text",
    [
        *("2024/05/01 15:05", "2024/5/1 15:05", "2024.05.01 15:05", "2024-5-1 15:05:00", "20240501T150500Z"),
        *("2024年5月1日 15:05", "2024年5月1日 午後3時05分", "2024年05月01日(水) 15:05", "2024년 5월 1일 오후 3:05"),
        *("2024-05-01 3:05 PM", "2024-05-01 03:05:00 PM", "05/01/2024 3:05 p.m.", "01.05.2024 15:05"),
        *("Wed, 01 May 2024 03:05:00 PM GMT", "May 1, 2024 3:05 pm", "Wed May  1 15:05:00 UTC 2024"),
        *("1 de mayo de 2024 15:05", "1er mai 2024 15:05", "Mi, 01 Mai 2024 17:05:00 +0200", "1 Mai 2024 um 15:05"),
        *("1. Mai 2024, 15:05 Uhr", "1 maja 2024 15:05", "01 мая 2024 15:05", "ср, 01 май 2024 18:05:00 +0300"),
        *("水, 02 5月 2024 00:05:00 +0900", "1 พฤษภาคม 2567 15:05", "1 Mayıs 2024 15:05", "1 Μαΐου 2024 15:05"),
        *("1714575900", "1714575900000", "2024-05-01T17:05:00.000+02:00 [Europe/Berlin]", "1 maggio 2024 15:05"),
    ],
)
def test_the_same_moment_is_found_however_it_is_written(text: str) -> None:
    assert parse_date(text) == datetime(2024, 5, 1, 15, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "month"),
    [("13/07/2024", 7), ("07/13/2024", 7), ("13 juillet 2024", 7), ("13 июля 2024", 7), ("13 červenec 2024", 7)],
)
def test_a_month_is_found_before_and_behind_its_day(text: str, month: int) -> None:
    assert parse_date(text) == datetime(2024, month, 13, tzinfo=UTC)


@pytest.mark.parametrize("month", range(1, 13))
@pytest.mark.parametrize(
    "form", ["%a, %d %b %Y %H:%M:%S GMT", "%d %b %Y %H:%M", "%d %B %Y %H:%M", "%dth of %B %Y, %H:%M", "%B %d, %Y %H:%M"]
)
def test_every_month_is_found_in_the_usual_forms(month: int, form: str) -> None:
    """December begins like a word that stands before months in other languages."""
    moment = datetime(2024, month, 13, 15, 5, tzinfo=UTC)
    assert parse_date(moment.strftime(form)) == moment


@given(
    named=st.sampled_from([one for one in NAMES if len(MEANINGS[one[2].lower().strip(".")]) == 1]),
    day=st.integers(1, 28),
    year=st.integers(1995, 2039),
    form=st.sampled_from(FORMS),
    case=st.sampled_from(CASES),
)
def test_every_month_is_found_in_every_language_and_case(
    named: tuple[str, int, str], day: int, year: int, form: str, case: type[str]
) -> None:
    language, month, name = named
    weekday = Locale(language).days["format"]["abbreviated"][datetime(year, month, day, tzinfo=UTC).weekday()]
    text = form.format(day=day, month=case(name), year=year, weekday=case(weekday))
    hour, minute = (15, 5) if ":05" in text else (0, 0)
    assert parse_date(text) == datetime(year, month, day, hour, minute, tzinfo=UTC), text


@given(
    st.datetimes(EARLIEST.replace(tzinfo=None), EARLIEST.replace(year=2400, tzinfo=None)),
    st.integers(-14 * 60, 14 * 60),
)
def test_what_a_library_writes_is_read_as_it_was_written(moment: datetime, minutes: int) -> None:
    zoned = moment.replace(microsecond=0, tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))
    for text in (
        zoned.isoformat(),
        format_datetime(zoned),
        f"{zoned:%Y%m%dT%H%M%S%z}",
        f"{zoned:%d %B %Y %H:%M:%S %z}",
    ):
        assert parse_date(text) == zoned


@given(st.text(max_size=120))
def test_any_text_is_a_time_of_utc_or_none(text: str) -> None:
    date = parse_date(text)
    assert date is None or date.tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("Wed, 01 May 2024 15:05:00 CEST", 13),
        ("Wed, 01 May 2024 15:05:00 GMT+2", 13),
        ("Wed, 01 May 2024 15:05:00 +2", 13),
        ("Wed, 01 May 2024 15:05:00 +02:00", 13),
        ("Wed, 01 May 2024 15:05:00 JST", 6),
        ("Wed, 01 May 2024 15:05:00 -0000", 15),
        ("Wed, 01 May 2024 15:05:00", 15),
        ("May 1 2024 15:05 CEST", 13),
    ],
)
def test_zones_that_libraries_ignore_or_turn_around_are_read(text: str, hour: int) -> None:
    assert parse_date(text) == datetime(2024, 5, 1, hour, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["May 2024 10:00", "Wed, May 2024", "1 May", "10:30", "2024", "May"])
def test_what_a_date_leaves_out_is_not_made_up(text: str) -> None:
    assert parse_date(text) in (None, datetime(2024, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    "text", ["13. Dezember 2024", "13 dicembre 2024", "13 de dezembro de 2024", "13 décembre 2024"]
)
def test_december_is_found_in_other_languages(text: str) -> None:
    assert parse_date(text) == datetime(2024, 12, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        *("2024-02-30", "30 février 2024", "2024-05-01T25:00:00Z", "2024-13-01", "32 May 2024", "2024/05/01/07"),
        *("yesterday", "0000-00-00 00:00:00", "1 Smarch 2024", "2024-05-01 10:61", "", "2024年13月1日"),
    ],
)
def test_an_impossible_date_is_none(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize("text", ["Mon, 01 Jun 2026 10:00:00 J", "01 Jun 2026 10:00 XYZ", "1 Jun 2026 10:00:00 Q"])
def test_a_zone_that_nobody_knows_does_not_lose_the_date(text: str) -> None:
    assert parse_date(text) == datetime(2026, 6, 1, 10, tzinfo=UTC)


def test_midnight_at_the_end_of_a_day_is_the_next_one() -> None:
    assert parse_date("2024-12-31T24:00:00Z") == datetime(2025, 1, 1, tzinfo=UTC)


def test_twelve_at_night_and_at_noon() -> None:
    assert parse_date("2024-05-01 12:05 AM") == datetime(2024, 5, 1, 0, 5, tzinfo=UTC)
    assert parse_date("2024-05-01 12:05 PM") == datetime(2024, 5, 1, 12, 5, tzinfo=UTC)


@pytest.mark.parametrize("days", [3, 30_000])
def test_a_date_far_ahead_is_not_believed(days: int) -> None:
    now = datetime(2024, 5, 1, tzinfo=UTC)
    assert not is_believable(now + timedelta(days=days), now)
