"""Messages in the language and the time zone of whoever gets them, true at the moment they are sent."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.web.languages import read_catalogs
from pressbox.soonish.adapters.wordings import SENTENCES, Occasion, Person, write_confirmation, write_text
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventFacts, list_changes
from pressbox.soonish.domain.messages import MessageText, write_cancellation, write_creation, write_update
from pressbox.soonish.domain.reminders import WantedReminder, message_version, parse_offset

BERLIN, TOKYO = "Europe/Berlin", "Asia/Tokyo"
START = datetime(2026, 11, 21, 18, 30, tzinfo=UTC)
FACTS = EventFacts("Sommerfest", START, BERLIN, location="Halle 2")
STORED = MessageText("stored title", "stored body")
GERMAN = Person("de", BERLIN)
DAY = timedelta(days=1)


def remind(person: Person, now: datetime, offset: timedelta, facts: EventFacts = FACTS) -> str:
    return write_text(STORED, Occasion(Cause.REMINDER, facts, offset=offset), person, now).title


def test_every_sentence_of_a_message_is_there_in_german() -> None:
    known = {
        word: translated
        for catalog in read_catalogs("pressbox.soonish", "de")
        for message in catalog
        for word, translated in zip(
            message.id if isinstance(message.id, (list, tuple)) else [message.id],
            message.string if isinstance(message.string, (list, tuple)) else [message.string],
            strict=False,
        )
    }
    assert [sentence for sentence in SENTENCES if not known.get(sentence)] == []


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (timedelta(hours=1), "Sommerfest starts in 1 hour"),
        (timedelta(minutes=17), "Sommerfest starts in 17 minutes"),
        (timedelta(0), "Sommerfest has started"),
        (-timedelta(minutes=5), "Sommerfest has started"),
    ],
)
def test_a_reminder_says_what_is_true_when_it_leaves(left: timedelta, said: str) -> None:
    occasion = Occasion(Cause.REMINDER, FACTS, offset=timedelta(hours=1))
    assert write_text(STORED, occasion, Person("en", ""), START - left).title == said


@pytest.mark.parametrize("zone", ["", BERLIN, "Europe/Vienna"])
def test_whoever_reads_english_by_the_clock_of_the_event_gets_the_text_of_the_ledger(zone: str) -> None:
    for cause in set(Cause) - {Cause.REMINDER}:
        assert write_text(STORED, Occasion(cause, FACTS, offset=DAY), Person("en", zone), START - DAY) == STORED


def test_what_an_organiser_wrote_stays_as_it_is() -> None:
    assert write_text(STORED, Occasion(Cause.ANNOUNCEMENT, FACTS), Person("de", TOKYO), START - DAY) == STORED


def test_a_cancellation_is_written_in_german_with_both_clocks() -> None:
    text = write_text(STORED, Occasion(Cause.CANCELLED, FACTS), Person("de", TOKYO), START - DAY)
    assert text.title == "Termin abgesagt: Sommerfest"
    assert text.body == (
        "Dieser Termin wurde abgesagt.\n\nWann: Sa., 21. Nov. 2026, 19:30 (Europe/Berlin)\n"
        "Bei dir: So., 22. Nov. 2026, 03:30 (Asia/Tokyo)\nWo: Halle 2"
    )


def test_english_elsewhere_says_the_same_as_the_ledger_and_the_time_there() -> None:
    for cause, stored in ((Cause.CANCELLED, write_cancellation(FACTS)), (Cause.CREATED, write_creation(FACTS))):
        text = write_text(stored, Occasion(cause, FACTS), Person("en", TOKYO), START - DAY)
        assert text.title == stored.title
        assert [line for line in text.body.split("\n") if not line.startswith("For you:")] == stored.body.split("\n")
        assert "For you: Sun 22 Nov 2026, 03:30 (Asia/Tokyo)" in text.body


def test_an_update_says_old_and_new_in_german() -> None:
    new = replace(FACTS, start_date=START + timedelta(hours=1), location="")
    stored = write_update(new, list_changes(FACTS, new))
    text = write_text(stored, Occasion(Cause.UPDATED, new, before=FACTS), GERMAN, START - DAY)
    assert text.body.split("\n") == [
        "Das hat sich geändert:",
        "• Beginn: Sa., 21. Nov. 2026, 19:30 (Europe/Berlin) → Sa., 21. Nov. 2026, 20:30 (Europe/Berlin)",
        "• Ort: Halle 2 → keine",
    ]


@pytest.mark.parametrize(
    ("person", "offset", "late", "words"),
    [
        (GERMAN, DAY, timedelta(), "Sommerfest ist morgen"),
        (GERMAN, timedelta(days=2), timedelta(), "Sommerfest beginnt in 2 Tagen"),
        (GERMAN, timedelta(minutes=90), timedelta(seconds=40), "Sommerfest beginnt in 1 Stunde 30 Minuten"),
        (GERMAN, timedelta(minutes=15), timedelta(minutes=9), "Sommerfest beginnt in 6 Minuten"),
        (GERMAN, timedelta(minutes=15), timedelta(hours=1), "Sommerfest hat begonnen"),
        (Person("en", TOKYO), DAY, timedelta(), "Sommerfest is tomorrow"),
        (Person("en", TOKYO), timedelta(hours=1), timedelta(), "Sommerfest starts in 1 hour"),
    ],
)
def test_a_reminder_says_what_is_true_when_it_is_sent(
    person: Person, offset: timedelta, late: timedelta, words: str
) -> None:
    assert remind(person, START - offset + late, offset) == words


def test_tomorrow_is_a_day_of_the_readers_calendar() -> None:
    evening = replace(FACTS, start_date=datetime(2026, 10, 25, 22, 30, tzinfo=UTC))
    assert remind(GERMAN, evening.start_date - DAY, DAY, evening) == "Sommerfest ist heute um 23:30 Uhr"
    assert remind(Person("en", TOKYO), evening.start_date - DAY, DAY, evening) == "Sommerfest is tomorrow"


def test_the_offset_of_a_reminder_is_read_from_its_version() -> None:
    assert parse_offset(message_version(WantedReminder(7, timedelta(minutes=90), START))) == timedelta(minutes=90)


def test_a_stranger_is_asked_to_confirm_in_their_language() -> None:
    text = write_confirmation("de", "Sommerfest", "https://example.org/c")
    assert text.title == "Bestätige: Sommerfest"
    assert "https://example.org/c" in text.body
    assert write_confirmation("xx", "Sommerfest", "https://example.org/c").title == "Confirm: Sommerfest"
