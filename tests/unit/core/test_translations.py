"""Every sentence of the templates has a German translation, and the translation keeps what it must keep."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from jinja2.ext import babel_extract

import pressbox
from pressbox.core.accounts.credentials import credential_kinds
from pressbox.core.quotas.declared import declared_quotas
from pressbox.core.stored_settings.sections import declared_sections
from pressbox.core.stored_settings.service import (
    CHANGED_MEANWHILE,
    ENTER_AGAIN,
    FILE_TOO_LARGE,
    KEPT_BY_ENVIRONMENT,
    NO_FILE,
)
from pressbox.core.web.account_mail import TEXTS
from pressbox.core.web.folders import CORE_PACKAGE, find_folders
from pressbox.core.web.languages import LANGUAGES, choose_language, read_catalogs, translations
from pressbox.core.web.pages.accounts import MESSAGES, SIGN_IN_MESSAGES
from pressbox.core.web.pages.search import HELP, SETTINGS
from pressbox.core.web.pages.second_factor import SECOND_FACTOR_MESSAGES
from pressbox.core.web.pages.users import MESSAGES as USER_MESSAGES
from pressbox.entry.manifests import APPLICATIONS
from pressbox.footy.web.source_sections import WORDS as SOURCE_WORDS

PACKAGES = (CORE_PACKAGE, *(manifest.package for manifest in APPLICATIONS if manifest.package))
Sentence = str | tuple[str, ...]
SETTINGS_WORDS = (CHANGED_MEANWHILE, ENTER_AGAIN, KEPT_BY_ENVIRONMENT, NO_FILE, FILE_TOO_LARGE, *SOURCE_WORDS)
KEYWORDS = ("_", "gettext", "ngettext")
# Put together from parts, so that they stand nowhere as a whole.
COMPOSED = {
    "This is not an e-mail address. It has the form name@example.org. %(reason)s",
    "Objects",
    "Spending",
    "%(number)s worker process on %(names)s.",
    "%(number)s worker processes on %(names)s.",
    "At most 10 reminders.",
    "An API token ends soon, on %(day)s.",
    "%(number)s API tokens end soon, the first on %(day)s.",
    "The local folder took, gave back and removed a file in %(number)s ms.",
    "%(used)s of %(most)s tokens of today are used.",
    "%(used)s of %(most)s tokens of today are used, at a cost of %(cost)s of %(limit)s.",
    "%(used)s of %(most)s tokens of today are used: the budget is used up.",
    "%(used)s of %(most)s tokens of today are used, at a cost of %(cost)s of %(limit)s: the budget is used up.",
    "Models, translators and paid searches wait until %(time)s UTC and then go on by themselves.",
    "The oldest task waits for %(number)s seconds.",
    "Proxies",
    "every minute",
    "every %(number)s minutes",
    "every %(number)s hours",
    "every %(number)s days",
    "every %(number)s seconds",
}
SOURCE = Path(pressbox.__file__).parent
_PLACE = re.compile(r"%\(\w+\)s|%[sd]|\{[^{}]*\}")


def sentences_of_templates(package: str) -> Iterator[Sentence]:
    templates = [file for folder in find_folders(package, "templates") for file in folder.glob("*.html")]
    for template in sorted(templates):
        with template.open("rb") as source:
            for _, _, message, _ in babel_extract(source, KEYWORDS, (), {"silent": "false"}):
                # What is translated by a variable has no words of its own here.
                words = tuple(part for part in message if part) if isinstance(message, tuple) else message
                if words:
                    yield words


def sentences_of_code() -> Iterator[str]:
    for manifest in APPLICATIONS:
        if manifest.navigation:
            yield from (manifest.title, manifest.summary, manifest.navigation.title)
        yield from (group.title for group in manifest.search())
        for section in manifest.today():
            yield from filter(None, (section.title, section.nothing))
    for place in (*SETTINGS, *HELP, *(place for manifest in APPLICATIONS for place in manifest.help)):
        yield from (place.title, place.about)
    yield from (
        *MESSAGES.values(),
        *USER_MESSAGES.values(),
        *SIGN_IN_MESSAGES.values(),
        *SECOND_FACTOR_MESSAGES.values(),
    )
    for text in TEXTS:
        yield from (text.subject, text.body)
    for kind in credential_kinds(APPLICATIONS):
        yield kind.title
    yield from (quota.title for quota in declared_quotas(APPLICATIONS))
    yield from sentences_of_settings()
    yield from SETTINGS_WORDS


def sentences_of_settings() -> Iterator[str]:
    for section in declared_sections(APPLICATIONS):
        yield from (section.title, section.summary)
        for field in section.fields:
            yield from (field.label, *field.choices.values())
            if field.hint:
                yield field.hint
        if section.file:
            yield from (section.file.label, section.file.hint)


def catalogs(language: str) -> list[Catalog]:
    return [catalog for package in PACKAGES for catalog in read_catalogs(package, language)]


def missing(language: str) -> list[str]:
    wanted = {_key(sentence) for package in PACKAGES for sentence in sentences_of_templates(package)}
    wanted |= set(sentences_of_code())
    known = {
        _key(message.id)
        for catalog in catalogs(language)
        for message in catalog
        if message.id and _complete(message.string)
    }
    return sorted(wanted - known)


def _key(sentence: Sentence | list[str]) -> str:
    return sentence if isinstance(sentence, str) else sentence[0]


def _complete(translated: Sentence | list[str] | None) -> bool:
    return all(translated) if isinstance(translated, (tuple, list)) else bool(translated)


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_every_sentence_has_a_translation(language: str) -> None:
    assert missing(language) == []


def shape(sentence: str) -> str:
    """A sentence without what stands in its places."""
    return " ".join(_PLACE.sub("*", sentence).split())


def texts_of_code() -> Iterator[str]:
    """Every text of the sources, and those with places as they are read with something in them."""
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "%s" for part in node.values)


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_the_core_translates_nothing_that_nobody_says(language: str) -> None:
    said = {shape(_key(sentence)) for package in PACKAGES for sentence in sentences_of_templates(package)}
    said |= {shape(text) for text in texts_of_code()}
    known = {_key(message.id) for catalog in read_catalogs(CORE_PACKAGE, language) for message in catalog if message.id}
    assert sorted(sentence for sentence in known - COMPOSED if shape(sentence) not in said) == []


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_a_translation_keeps_placeholders_and_markup(language: str) -> None:
    kept = re.compile(r"%\(\w+\)s|</?[a-z]+[^>]*>|%%s")
    for catalog in catalogs(language):
        for message in catalog:
            if message.id:
                original, translated = _key(message.id), _key(message.string or "")
                assert sorted(kept.findall(translated)) == sorted(kept.findall(original)), original


@pytest.mark.parametrize(
    ("account", "header", "expected"),
    [
        (None, "", "en"),
        (None, "de-AT,de;q=0.9,en;q=0.8", "de"),
        (None, "fr, de;q=0.4, en;q=0.7", "en"),
        (None, "de;q=0", "en"),
        (None, "de;q=abc, ;;;,,", "en"),
        ("de", "en", "de"),
        ("xx", "de", "de"),
    ],
)
def test_the_account_chooses_the_language_before_the_browser_does(
    account: str | None, header: str, expected: str
) -> None:
    assert choose_language(account, header) == expected


def test_german_plurals_follow_the_number() -> None:
    german = translations("de", PACKAGES)
    singular, plural = "%(number)s task is running", "%(number)s tasks are running"
    assert german.ngettext(singular, plural, 1) != german.ngettext(singular, plural, 2)
