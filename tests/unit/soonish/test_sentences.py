"""A sentence fills in the form of an event."""

from datetime import datetime

import pytest

from pressbox.soonish.domain.sentences import Said, read_sentence

# A Tuesday.
NOW = datetime.fromisoformat("2026-11-17T21:00")


@pytest.mark.parametrize(
    ("text", "name", "start"),
    [
        ("Dinner with Anna on Friday at 19:30", "Dinner with Anna", "2026-11-20T19:30"),
        ("Abendessen mit Anna am Freitag um 19 Uhr", "Abendessen mit Anna", "2026-11-20T19:00"),
        ("tomorrow 7pm Party", "Party", "2026-11-18T19:00"),
        ("School play, 21 November 18:00", "School play", "2026-11-21T18:00"),
        ("Treffen am 3.12. um 8:15", "Treffen", "2026-12-03T08:15"),
        ("Neujahr am 1. Januar", "Neujahr", "2027-01-01T12:00"),
        ("Release 2026-12-24 at 9:00 in Berlin", "Release in Berlin", "2026-12-24T09:00"),
        # A time that has passed today is meant for tomorrow; the same weekday for next week.
        ("Meet at 20:00", "Meet", "2026-11-18T20:00"),
        ("Chess Tuesday 21.15", "Chess", "2026-11-24T21:15"),
        ("Midnight feast at 12am tomorrow", "Midnight feast", "2026-11-18T00:00"),
    ],
)
def test_a_day_and_a_time_are_taken_out_of_a_sentence(text: str, name: str, start: str) -> None:
    assert read_sentence(text, NOW) == Said(name, datetime.fromisoformat(start))


@pytest.mark.parametrize(
    "text", ["Chess", "Catch-22 evening", "Room 31.31.", "13pm", "30 February", "2026-13-40", "", "\u2603"]
)
def test_what_is_not_understood_stays_in_the_name(text: str) -> None:
    assert read_sentence(text, NOW) == Said(text)
