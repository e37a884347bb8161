"""Languages of the pages: which one a reader gets, and its catalogue, compiled in memory from the `.po` files."""

from collections.abc import Iterator
from functools import cache
from io import BytesIO

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations

from pressbox.core.web.folders import find_folders

DEFAULT_LANGUAGE = "en"
LANGUAGES = {"en": "English", "de": "Deutsch"}

# A header may carry hundreds of entries; nobody reads more languages than this.
ACCEPT_LANGUAGE_ENTRIES = 20


def choose_language(account: str | None, accept_language: str) -> str:
    """The account's choice first, then what the browser asks for, then English."""
    if account in LANGUAGES:
        return account
    for wanted in _by_preference(accept_language):
        if wanted.split("-")[0] in LANGUAGES:
            return wanted.split("-")[0]
    return DEFAULT_LANGUAGE


def _by_preference(accept_language: str) -> list[str]:
    weighted: list[tuple[float, str]] = []
    for entry in accept_language.split(",")[:ACCEPT_LANGUAGE_ENTRIES]:
        tag, _, parameter = entry.strip().partition(";")
        try:
            weight = float(parameter.strip().removeprefix("q=")) if parameter else 1.0
        except ValueError:
            continue
        if tag and weight > 0:
            weighted.append((weight, tag.strip().lower()))
    return [tag for _, tag in sorted(weighted, key=lambda pair: -pair[0])]


def locale_of(language: str) -> Locale:
    # British English: day before month and a 24-hour clock, as the design asks.
    return Locale.parse("en_GB" if language == DEFAULT_LANGUAGE else language)


@cache
def translations(language: str, packages: tuple[str, ...]) -> NullTranslations:
    """The catalogues of the given packages in one. English is the language of the sources and needs none."""
    if language == DEFAULT_LANGUAGE:
        return NullTranslations()
    merged = Translations()
    for package in packages:
        for catalog in read_catalogs(package, language):
            merged.merge(_compile(catalog))
    return merged


def read_catalogs(package: str, language: str) -> Iterator[Catalog]:
    for folder in find_folders(package, "translations"):
        source = folder / f"{language}.po"
        if source.is_file():
            yield read_po(BytesIO(source.read_bytes()), locale=language)


def _compile(catalog: Catalog) -> Translations:
    compiled = BytesIO()
    write_mo(compiled, catalog)
    compiled.seek(0)
    return Translations(compiled)
