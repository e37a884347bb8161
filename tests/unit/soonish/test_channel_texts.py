"""What people are told of their channels is there in their language."""

import pytest

from pressbox.core.web.languages import LANGUAGES, read_catalogs
from pressbox.delivery.adapters.channel_texts import PACKAGE, SENTENCES, write_broken, write_test


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en"}))
def test_every_sentence_about_a_channel_is_translated(language: str) -> None:
    known = {message.id: message.string for catalog in read_catalogs(PACKAGE, language) for message in catalog}
    assert [sentence for sentence in SENTENCES if not known.get(sentence)] == []


def test_a_broken_channel_is_told_with_its_last_error_if_there_is_one() -> None:
    told = write_broken("de", "Handy 100 %", "410 Gone")
    assert told.title == "Dein Kanal Handy 100 % funktioniert nicht mehr"
    assert "Der letzte Fehler war: 410 Gone" in told.body
    assert "Fehler" not in write_broken("de", "Handy", "").body
    assert write_broken("en", "Phone", "").title == "Your channel Phone has stopped working"


def test_a_test_names_its_channel() -> None:
    assert "Kanals Handy." in write_test("de", "Handy").body
    assert write_test("en", "Phone").title == "Test from Pressbox"
