"""Turns a parsed query into a query of tantivy.

There are three steps of tolerance: the words as they are, then also as prefixes, then also with a typo. Scores have
tiers, so that a hit of an earlier step comes before one of a later step. Inside a tier the title counts most.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from pressbox.curator.search.domain.passages import stem
from pressbox.curator.search.domain.query import (
    Clause,
    Field,
    SearchQuery,
    allows_prefix,
    allows_prefix_typo,
    allows_typo,
)
from pressbox.curator.search.index.schema import AUTHOR, CONTENT, FEED, FEED_CONTENT, ID, SUMMARY, TITLE, WORDS
from pressbox.curator.text.words import Word, split_pairs

if TYPE_CHECKING:
    import tantivy

WEIGHTS = {
    Field.ANY: {TITLE: 5.0, SUMMARY: 2.0, CONTENT: 1.0, FEED_CONTENT: 1.0, AUTHOR: 2.0},
    Field.TITLE: {TITLE: 5.0},
    Field.AUTHOR: {AUTHOR: 2.0},
}
# For questions: where a word is in several fields, the best one counts most.
QUESTION_WEIGHTS = {TITLE: 2.0, SUMMARY: 1.2, CONTENT: 1.0, FEED_CONTENT: 1.0}
TIE = 0.2
# About the score of a common word: another form of a word is a hint, not a hit.
STEM_SCORE = 1.5
# No score inside a tier reaches the next one.
TIER = 500.0


class Tolerance(IntEnum):
    EXACT = 0
    PREFIXES = 1
    TYPOS = 2
    # Also in what was put in quotes.
    TYPOS_IN_QUOTES = 3


class QueryBuilder:
    """Builds queries for the schema of one index."""

    def __init__(
        self, schema: "tantivy.Schema", feed_ids: Sequence[int] | None, entry_ids: Sequence[int] | None = None
    ) -> None:
        self._schema = schema
        self._among = {FEED: feed_ids, ID: entry_ids}

    def build(self, query: SearchQuery, tolerance: Tolerance) -> "tantivy.Query":
        return self._restrict(query, self._all([self._clause(clause, tolerance) for clause in query.included]))

    def build_any(self, terms: Sequence[str]) -> "tantivy.Query":
        """Match whatever has one of the terms, or another form of it; more and rarer terms score higher."""
        import tantivy

        queries = []
        for term in terms:
            exact = [
                tantivy.Query.boost_query(tantivy.Query.term_query(self._schema, name, term, "freq"), weight)
                for name, weight in QUESTION_WEIGHTS.items()
            ]
            queries.append(tantivy.Query.disjunction_max_query(exact, TIE))
            if root := stem(term):
                queries.append(self._tier(self._prefix(WORDS, root), STEM_SCORE))
        return self._restrict(SearchQuery(()), self._any(queries))

    def _restrict(self, query: SearchQuery, wanted: "tantivy.Query") -> "tantivy.Query":
        """Add what must not be there, the feeds, and a bonus for words in the typed order."""
        import tantivy

        parts = [(tantivy.Occur.Must, wanted)]
        parts += [(tantivy.Occur.Should, one) for one in self._phrases(query)]
        parts += [(tantivy.Occur.MustNot, self._exact(clause)) for clause in query.excluded]
        for field, numbers in self._among.items():
            if numbers is not None:
                among = tantivy.Query.term_set_query(self._schema, field, list(numbers))
                parts.append((tantivy.Occur.Must, self._tier(among, 0.0)))
        return tantivy.Query.boolean_query(parts)

    def _phrases(self, query: SearchQuery) -> "Sequence[tantivy.Query]":
        """Words that were typed one after the other score higher where a text has them so."""
        import tantivy

        plain = [clause for clause in query.included if clause.field is Field.ANY and len(clause.words) == 1]
        terms = [clause.words[0].text for clause in plain if not clause.words[0].unspaced]
        if len(terms) < 2 or len(terms) != len(query.included):
            return ()
        return [
            tantivy.Query.boost_query(tantivy.Query.phrase_query(self._schema, name, list(terms)), weight)
            for name, weight in ((TITLE, 5.0), (CONTENT, 2.0))
        ]

    def _clause(self, clause: Clause, tolerance: Tolerance) -> "tantivy.Query":
        exact, tolerant = self._exact(clause), []
        if tolerance >= Tolerance.PREFIXES and not clause.exact and allows_prefix(clause.words[-1]):
            tolerant.append(self._tier(self._with_prefix(clause), TIER))
        typos = tolerance >= (Tolerance.TYPOS_IN_QUOTES if clause.exact else Tolerance.TYPOS)
        if typos and any(allows_typo(word) for word in clause.words):
            tolerant.append(self._tier(self._all([self._with_typo(word, clause.field) for word in clause.words]), 1.0))
        # The exact query alone needs no tiers.
        return self._any([exact, self._tier(self._unscored(clause) or exact, TIER), *tolerant]) if tolerant else exact

    def _exact(self, clause: Clause) -> "tantivy.Query":
        import tantivy

        return self._any(
            [
                tantivy.Query.boost_query(self._exact_in(name, clause), weight)
                for name, weight in WEIGHTS[clause.field].items()
            ]
        )

    def _unscored(self, clause: Clause) -> "tantivy.Query | None":
        """Match the same documents as `_exact`, but cheaply and without a score, for one word in any field."""
        if clause.field is not Field.ANY or len(clause.words) > 1 or clause.words[0].unspaced:
            return None
        return self._exact_in(WORDS, clause)

    def _exact_in(self, name: str, clause: Clause) -> "tantivy.Query":
        import tantivy

        if _is_one_character(clause):
            return self._prefix(name, clause.words[0].text)
        terms = _terms(clause)
        if len(terms) == 1:
            option = "basic" if name == WORDS else "position"
            return tantivy.Query.term_query(self._schema, name, terms[0][1], option)
        return tantivy.Query.phrase_query(self._schema, name, list(terms))

    def _with_prefix(self, clause: Clause) -> "tantivy.Query":
        """Match German compounds, plurals and half-typed words."""
        import tantivy

        terms = _terms(clause)
        if len(terms) == 1:
            return self._prefix(_dictionary(clause.field), terms[0][1])
        return self._any(
            [tantivy.Query.phrase_prefix_query(self._schema, name, list(terms)) for name in WEIGHTS[clause.field]]
        )

    def _with_typo(self, word: Word, field: Field) -> "tantivy.Query":
        import tantivy

        if not allows_typo(word):
            return self._exact(Clause((Word(word.text, 0, word.unspaced),), field=field))
        return tantivy.Query.fuzzy_term_query(
            self._schema, _dictionary(field), word.text, prefix=allows_prefix_typo(word)
        )

    def _prefix(self, name: str, text: str) -> "tantivy.Query":
        import tantivy

        # This takes a quarter of the time of a pattern.
        return tantivy.Query.fuzzy_term_query(self._schema, name, text, distance=0, prefix=True)

    def _tier(self, query: "tantivy.Query", score: float) -> "tantivy.Query":
        import tantivy

        return tantivy.Query.const_score_query(query, score)

    def _any(self, queries: "Sequence[tantivy.Query]") -> "tantivy.Query":
        import tantivy

        return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])

    def _all(self, queries: "Sequence[tantivy.Query]") -> "tantivy.Query":
        """Match all queries; without any, everything: `-word` alone means all but that."""
        import tantivy

        if not queries:
            return tantivy.Query.all_query()
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def _dictionary(field: Field) -> str:
    """Return the index field in which prefixes and typos are searched."""
    (name, *others) = WEIGHTS[field]
    return WORDS if others else name


def _is_one_character(clause: Clause) -> bool:
    """True for one character of a script without spaces: every character begins a pair."""
    return len(clause.words) == 1 and clause.words[0].unspaced and len(clause.words[0].text) == 1


def _terms(clause: Clause) -> list[tuple[int, str]]:
    """Return the terms with their positions, counted from the first."""
    first = clause.words[0].position
    return [
        (word.position - first + place, term)
        for word in clause.words
        for place, term in enumerate(split_pairs(word.text) if word.unspaced else (word.text,))
    ]
