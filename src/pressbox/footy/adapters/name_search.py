"""Matches names in PostgreSQL as people type them: in any case, with or without accents."""

import unicodedata
from typing import Any

from sqlalchemy import ColumnElement, func, literal_column, or_

from pressbox.footy.adapters.rows import TeamRow

_ACCENTS: ColumnElement[str] = literal_column("'[\u0300-\u036f]'")
_DECOMPOSED: ColumnElement[str] = literal_column("NFD")


def has_word(column: ColumnElement[str] | Any, word: str) -> ColumnElement[bool]:
    """Whether a name has this word or part of a word in it."""
    folded = func.regexp_replace(func.normalize(func.lower(column), _DECOMPOSED), _ACCENTS, "", "g")
    found: ColumnElement[bool] = folded.contains(fold(word), autoescape=True)
    return found


def team_has_word(word: str) -> ColumnElement[bool]:
    """In the name of a team, or in one of its aliases."""
    return or_(has_word(TeamRow.name, word), has_word(func.array_to_string(TeamRow.aliases, " "), word))


def fold(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word.lower().replace("\x00", ""))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
