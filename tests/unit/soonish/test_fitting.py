"""Messages that fit what a service takes."""

import pytest

from pressbox.delivery.domain.fitting import CUT, fit_body, show_difference

LINKS = ("The event: https://events.example.org/events/abc", "Unsubscribe: https://events.example.org/u/xyz")


@pytest.mark.parametrize("limit", [1024, 2000, 4096], ids=["Pushover", "Discord", "Telegram"])
@pytest.mark.parametrize("letter", ["a ", "ü ", "語", "x"])
def test_a_long_message_is_cut_and_every_link_stays_whole(limit: int, letter: str) -> None:
    text = fit_body(letter * 6046, LINKS, limit)
    assert len(text.encode()) <= limit
    assert text.endswith("\n".join(LINKS))
    assert CUT in text


def test_a_short_message_stays_as_it_is() -> None:
    assert fit_body("We meet in room 12.", LINKS, 2000) == "We meet in room 12.\n\n" + "\n".join(LINKS)
    assert fit_body("a" * 9000, (), None) == "a" * 9000
    assert fit_body("We meet in room 12.", (), 2000) == "We meet in room 12."


def test_a_word_is_not_cut_in_the_middle() -> None:
    assert fit_body("It rains, so we meet in the gymnasium", (), 33) == f"It rains, so we meet in the{CUT}"


def test_where_not_all_links_fit_the_first_ones_stay() -> None:
    text = fit_body("word " * 100, LINKS, 100)
    assert LINKS[0] in text
    assert LINKS[1] not in text
    assert len(text.encode()) <= 100


def test_one_letter_in_a_long_description_is_not_two_descriptions() -> None:
    old = "word " * 300 + "We meet at the sation." + " word" * 300
    before, after = show_difference(old, old.replace("sation", "station"))
    assert "the sation." in before
    assert "the station." in after
    assert len(before) + len(after) < 300
    assert before.startswith("…")
    assert before.endswith("…")


def test_short_texts_and_whole_replacements_are_shown() -> None:
    assert show_difference("Hall 1", "Hall 2") == ("Hall 1", "Hall 2")
    assert show_difference("", "x" * 3000)[0] == ""
    assert len(show_difference("", "x" * 3000)[1]) <= 420
