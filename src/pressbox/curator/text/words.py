"""Splits text into the words of the search index: folded, and as pairs of characters where a script has no spaces.

Pure. Index and query use the same functions, so that they always agree.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from operator import add

# Longer words are noise (encoded data, addresses); a query for one is cut at the same place.
LONGEST_WORD = 64

# Scripts that write without spaces, and Korean, whose words carry their particles.
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
)
# A letter or digit of the other scripts, for patterns over folded text.
LETTER = rf"[^\W_{_UNSPACED}]"
_TOKEN = re.compile(rf"[{_UNSPACED}]+|{LETTER}+(?:(?:\+\+|#)(?!\w))?")
_FIRST_UNSPACED = "\u0e00"
# Composed syllables stay as they are: taking kana and Hangul apart would make other letters of them.
_TO_FOLD = re.compile(rf"[^\x00-\x7f{_UNSPACED}]+")
_HALF_WIDTH_KANA = re.compile("[\uff61-\uff9f]+")


@dataclass(frozen=True)
class Word:
    """A word, or a run of characters of a script without spaces. `position` counts what the index counts."""

    text: str
    position: int
    unspaced: bool


def compose(text: str) -> str:
    """Normalise a text to composed characters, so that each can be folded on its own."""
    if text.isascii():
        return text
    return _HALF_WIDTH_KANA.sub(lambda run: unicodedata.normalize("NFKC", run[0]), unicodedata.normalize("NFC", text))


def fold(text: str) -> str:
    """Remove case, accents and width from a composed text: `Straße` becomes `strasse`, `Ａ` becomes `a`."""
    # After folding nothing beyond ASCII has case, so lowering never changes the length.
    return (text if text.isascii() else _TO_FOLD.sub(lambda run: run[0].translate(_FOLDS), text)).lower()


def fold_lengths(text: str) -> dict[str, int]:
    """Return the characters of a composed text that do not fold to exactly one, with the number they fold to."""
    if text.isascii():
        return {}
    found = {character for character in set(text) if _TO_FOLD.match(character)}
    return {character: len(fold) for character in found if len(fold := _FOLDS[ord(character)]) != 1}


def split_words(text: str) -> Iterator[Word]:
    """Yield the words of a text in order, with the positions that the index counts."""
    position = 0
    for token in _TOKEN.findall(fold(compose(text))):
        unspaced = is_unspaced(token)
        yield Word(token if unspaced else token[:LONGEST_WORD], position, unspaced)
        # A run of n characters takes n positions: its pairs, and its last character alone.
        position += len(token) if unspaced else 1


def to_index_terms(text: str) -> str:
    """Return what the index holds for a composed text: terms separated by spaces."""
    tokens = [
        _indexed_pairs(token) if token >= _FIRST_UNSPACED and is_unspaced(token) else token[:LONGEST_WORD]
        for token in _TOKEN.findall(fold(text))
    ]
    return " ".join(tokens)


def split_pairs(run: str) -> tuple[str, ...]:
    """Return the pairs of a run without spaces; a single character is its own pair."""
    return tuple(run[at : at + 2] for at in range(max(1, len(run) - 1)))


def is_unspaced(token: str) -> bool:
    return _IS_UNSPACED.match(token) is not None


_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


def _indexed_pairs(run: str) -> str:
    # The last character once more, so that every character begins a term and can be searched alone.
    return " ".join((*map(add, run, run[1:]), run[-1]))


class _Folds(dict[int, str]):
    """Caches the fold of each character."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKD", chr(code)).casefold()
        fold = "".join(character for character in plain if not unicodedata.combining(character))
        self[code] = fold
        return fold


_FOLDS = _Folds()
