"""Finished sentences are said in German, with what stands in their places; strangers' long words keep nobody busy."""

from pressbox.core.web.folders import CORE_PACKAGE
from pressbox.core.web.sentences import LONGEST_SENTENCE, LONGEST_TEXT, sentences

GERMAN = sentences("de", (CORE_PACKAGE,))


def say(names: str) -> str:
    return f"Their times are wrong: {names}."


def test_what_stands_in_a_sentence_is_carried_over() -> None:
    names = "a" * (LONGEST_SENTENCE - len(say("")))
    assert GERMAN.translate(say(names)) == f"Ihre Zeiten stimmen nicht: {names}."


def test_a_longer_one_than_any_of_ours_is_not_compared_with_them() -> None:
    text = say("a" * LONGEST_SENTENCE)
    assert GERMAN.translate(text) == text


def test_each_sentence_of_a_text_is_translated_and_of_a_very_long_one_none() -> None:
    one = say("x")
    many = " ".join([one] * (LONGEST_SENTENCE // len(one) + 1))
    assert GERMAN.translate(many) == many.replace("Their times are wrong", "Ihre Zeiten stimmen nicht")
    endless = " ".join([one] * (LONGEST_TEXT // len(one) + 1))
    assert GERMAN.translate(endless) == endless
