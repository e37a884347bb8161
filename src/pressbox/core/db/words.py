"""Finds rows by the beginnings of words, as people type them: in any case, with or without accents, from an index.

`core.search_words` makes the words of a text. A column is found quickly when an index has the same expression.
"""

import unicodedata
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Index, Text, bindparam, cast, func, literal
from sqlalchemy import text as sql_text
from sqlalchemy.dialects.postgresql import TSQUERY

# A word is long enough to tell things apart; what is pasted beyond that is no name.
MOST_WORDS = 12
TYPED: BindParameter[str] = bindparam("typed", type_=Text)
# Marks between words, the same as in `core.search_words`.
MARKS = str.maketrans(dict.fromkeys(".,;:/\\@-_'’\"()[]&|!?*+#<>=~^%$–—", " "))


def split_words(text: str) -> tuple[str, ...]:
    """The words of what somebody typed, folded as the index has them."""
    decomposed = unicodedata.normalize("NFD", text.lower().replace("\x00", " "))
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return tuple(plain.translate(MARKS).split()[:MOST_WORDS])


def fits(text: str, typed: str) -> bool:
    """The same in memory: every word that was typed begins a word of the text. Nothing typed fits nothing."""
    words, wanted = split_words_of(text), split_words(typed)
    return bool(wanted) and all(any(word.startswith(one) for word in words) for one in wanted)


# Names of pages are compared with every letter that somebody types.
@lru_cache(maxsize=1024)
def split_words_of(text: str) -> tuple[str, ...]:
    decomposed = unicodedata.normalize("NFD", text.lower())
    return tuple("".join(one for one in decomposed if not unicodedata.combining(one)).translate(MARKS).split())


def words_index(table: str, columns: str) -> Index:
    """The index of a table by which `has_words` finds rows: `columns` as SQL has them."""
    return Index(f"ix_{table}_words", sql_text(f"core.search_words({columns})"), postgresql_using="gin")


def words_of(*columns: Any) -> ColumnElement[Any]:
    """The words of these columns, written as the expression of an index is."""
    return func.core.search_words(*columns)


def words_query(typed: str) -> str:
    """What was typed as a query of the database. For at least one word."""
    return " & ".join(f"'{word}':*" for word in split_words(typed))


def has_words(words: ColumnElement[Any], typed: str | BindParameter[str]) -> ColumnElement[bool]:
    """Whether every word that was typed begins one of these. As a parameter it takes what `words_query` gives."""
    query = typed if isinstance(typed, BindParameter) else literal(words_query(typed), Text)
    return words.op("@@")(cast(query, TSQUERY))
