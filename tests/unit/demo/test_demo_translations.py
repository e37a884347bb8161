"""Whoever presses "Translation" in the demo reads a translation, and not the same words with accents."""

import re

import pytest

from pressbox.demo.news.library import Article, articles
from pressbox.demo.simulators.translation_text import translate_text

PIECES = re.compile(r"<(p|h2|li|th|td)>(.*?)</\1>", re.DOTALL)
FOREIGN = [article for article in articles() if article.language != "en"]


def texts(article: Article) -> list[str]:
    inside = [found[2] for found in PIECES.finditer(article.html)]
    return [article.title, article.summary, *(text for text in inside if any(letter.isalpha() for letter in text))]


@pytest.mark.parametrize("article", FOREIGN, ids=lambda article: article.slug)
def test_every_foreign_article_of_the_demo_is_there_in_english(article: Article) -> None:
    for text in texts(article):
        translated = translate_text(text, "en")
        assert not translated.startswith("[en]"), text
        assert translated != text
        assert translated.isascii() or "“" in translated


@pytest.mark.parametrize("article", [one for one in articles() if one.language == "en"], ids=lambda one: one.slug)
def test_every_english_article_of_the_demo_is_there_in_german(article: Article) -> None:
    for text in texts(article):
        assert not translate_text(text, "de").startswith("[de]"), text


def test_sentences_that_a_summary_took_out_of_an_article_are_known_too() -> None:
    summary = (
        "Es geht um Millimeter. Entscheidend ist, dass das Wasser das ganze Jahr über knapp unter der Oberfläche steht."
    )
    assert translate_text(summary, "en") == (
        "It is a matter of millimetres. What matters is that the water stands just below the surface all year round."
    )


def test_markup_stays_and_what_nobody_wrote_for_the_demo_is_recognisable() -> None:
    kept = "<em>Es geht um Millimeter.</em>"
    assert translate_text(kept, "en") == "<em>It is a matter of millimetres.</em>"
    assert translate_text("Es geht um Kilometer.", "en").startswith("[en] ")
    assert translate_text("Es geht um Millimeter.", "fr").startswith("[fr] ")
