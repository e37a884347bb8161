"""Finished sentences in another language: messages of errors and of parts, which are made where nobody knows who reads.

A catalogue has them as patterns, such as "At most %(number)s tags."; what stands in the place is carried over.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from babel.support import NullTranslations

from pressbox.core.web.languages import DEFAULT_LANGUAGE, read_catalogs, translations

_PLACE = re.compile(r"%\((\w+)\)s")
_ANYTHING, _NO_SENTENCE = ".+?", r"(?:(?!\. ).)+?"
# Where one sentence ends and the next begins.
_BETWEEN = re.compile(r"(?<=[.!?]) (?=[A-Z0-9“`])")
# A pattern with fewer letters of its own would fit what it does not mean.
FEWEST_LETTERS = 8
# Patterns with several places try a long text for long, and strangers' words may stand in it. Ours are shorter.
LONGEST_SENTENCE = 600
LONGEST_TEXT = 4_000
Pattern = tuple[re.Pattern[str], str]
# Titles of work, such as "Articles of %(name)s", have a context of their own in the catalogues: a feed, whose name is
# the title of its work, may be called anything.
WORK = "work"


class Sentences:
    def __init__(self, catalogue: NullTranslations, patterns: Sequence[Pattern] = ()) -> None:
        self._catalogue = catalogue
        self._patterns = patterns

    def translate(self, text: str) -> str:
        """The sentence in this language, or as it is when no catalogue has it. Of several, each by itself."""
        whole = self._translate_one(text)
        if whole is not None or len(text) > LONGEST_TEXT:
            return text if whole is None else whole
        pieces = _BETWEEN.split(text)
        return " ".join(self._translate_one(piece) or piece for piece in pieces) if len(pieces) > 1 else text

    def _translate_one(self, text: str) -> str | None:
        exact = str(self._catalogue.gettext(text)) if text else text
        if exact != text:
            return exact
        if len(text) > LONGEST_SENTENCE:
            return None
        for pattern, translated in self._patterns:
            if found := pattern.fullmatch(text):
                return translated % {name: self._translate_inner(value) for name, value in found.groupdict().items()}
        return None

    def _translate_inner(self, value: str) -> str:
        """A reason inside a sentence is one itself; a name is not, whatever it is called."""
        return self.translate(value) if value.endswith(".") else value


@cache
def sentences(language: str, packages: tuple[str, ...]) -> Sentences:
    catalogue = translations(language, packages)
    if language == DEFAULT_LANGUAGE:
        return Sentences(catalogue)
    messages = (message for package in packages for one in read_catalogs(package, language) for message in one)
    pairs = ((message.id, message.string) for message in messages if message.context is None)
    return Sentences(catalogue, _compile((id, string) for id, string in pairs if isinstance(id, str)))


@dataclass(frozen=True)
class WorkTitles:
    """Titles of work in one language. `pairs` is what a page needs to say those that arrive while it is open."""

    pairs: Sequence[tuple[str, str]]
    _patterns: Sequence[Pattern]

    def translate(self, title: str) -> str:
        for pattern, translated in self._patterns:
            if found := pattern.fullmatch(title):
                return translated % found.groupdict()
        return title


@cache
def work_titles(language: str, packages: tuple[str, ...]) -> WorkTitles:
    messages = (message for package in packages for one in read_catalogs(package, language) for message in one)
    pairs = [(str(message.id), str(message.string)) for message in messages if message.context == WORK]
    # What has more words of its own says more precisely which title it is.
    pairs.sort(key=lambda pair: -_own_letters(pair[0]))
    return WorkTitles(pairs, [(_pattern(id), string) for id, string in pairs])


def _compile(pairs: Iterable[tuple[str, object]]) -> Sequence[Pattern]:
    """The most precise first."""
    found = [
        (letters, _pattern(id), string)
        for id, string in pairs
        if isinstance(string, str) and "%(" in id and (letters := _own_letters(id)) >= FEWEST_LETTERS
    ]
    return [(pattern, string) for _, pattern, string in sorted(found, key=lambda one: -one[0])]


def _pattern(id: str) -> re.Pattern[str]:
    words = _PLACE.split(id)
    # Only what ends a sentence may hold others; a name before it would swallow the sentence before.
    inner = [_ANYTHING if number == len(words) - 2 and not words[-1] else _NO_SENTENCE for number in range(len(words))]
    parts = [f"(?P<{part}>{inner[number]})" if number % 2 else re.escape(part) for number, part in enumerate(words)]
    return re.compile("".join(parts), re.DOTALL)


def _own_letters(id: str) -> int:
    return sum(letter.isalpha() for letter in _PLACE.sub("", id))
