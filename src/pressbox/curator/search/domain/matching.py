"""Whether one text is what a query asks for, without an index: for searches that people follow. Pure.

As a search that finds enough: whole words and, outside quotes, beginnings of longer ones. A word with a typo is no
match: who is told of an article should find the words in it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pressbox.curator.search.domain.highlights import text_to_show
from pressbox.curator.search.domain.query import (
    Clause,
    Field,
    SearchQuery,
    allows_prefix,
    is_one_character,
    positioned_terms,
)
from pressbox.curator.search.ports import IndexDocument
from pressbox.curator.text.words import compose, to_index_terms

Positions = Mapping[str, set[int]]


class SplitText:
    """The terms of an article and where they stand, in each of its parts."""

    def __init__(self, entry: IndexDocument) -> None:
        shown = text_to_show(entry)
        title, author = _split(shown.title), _split(compose(entry.author))
        rest = [_split(part) for part in (shown.summary, shown.content, shown.feed_content)]
        self._parts: Mapping[Field, Sequence[Positions]] = {
            Field.ANY: (title, author, *rest),
            Field.TITLE: (title,),
            Field.AUTHOR: (author,),
        }

    def matches(self, query: SearchQuery) -> bool:
        """A query without words asks for nothing."""
        if not query.included or any(self._has(clause, exact=True) for clause in query.excluded):
            return False
        return all(self._has(clause, exact=clause.exact) for clause in query.included)

    def _has(self, clause: Clause, *, exact: bool) -> bool:
        prefix = is_one_character(clause) or (not exact and allows_prefix(clause.words[-1]))
        terms = positioned_terms(clause)
        return any(_stand_together(part, terms, prefix) for part in self._parts[clause.field])


def _split(text: str) -> Positions:
    found: dict[str, set[int]] = defaultdict(set)
    for position, term in enumerate(to_index_terms(text).split()):
        found[term].add(position)
    return found


def _stand_together(part: Positions, terms: Sequence[tuple[int, str]], prefix: bool) -> bool:
    """Whether the terms stand one after the other; with `prefix`, the last may be the beginning of a longer one."""
    *before, (offset, last) = terms
    starts = _starts(_positions(part, last, prefix), offset)
    for place, term in before:
        if not starts:
            return False
        starts &= _starts(_positions(part, term, False), place)
    return bool(starts)


def _positions(part: Positions, term: str, prefix: bool) -> Iterable[int]:
    if not prefix:
        return part.get(term, ())
    return (position for known, places in part.items() if known.startswith(term) for position in places)


def _starts(positions: Iterable[int], offset: int) -> set[int]:
    return {position - offset for position in positions}
