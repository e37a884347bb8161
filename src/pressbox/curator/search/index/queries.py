"""From what a person meant to what tantivy searches.

Three steps of tolerance: the words as they are; also as the beginning of longer ones; also nearly so. Scores have
tiers, so that a hit of an earlier step comes before one of a later step. Inside a tier the title counts most.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from pressbox.curator.search.domain.passages import stem_of
from pressbox.curator.search.domain.query import (
    Clause,
    Field,
    SearchQuery,
    may_be_misspelt,
    may_begin_a_word,
    may_begin_misspelt,
)
from pressbox.curator.search.index.schema import AUTHOR, CONTENT, FEED, FEED_CONTENT, SUMMARY, TITLE, WORDS
from pressbox.curator.text.words import Word, split_pairs

if TYPE_CHECKING:
    import tantivy

WEIGHTS = {
    Field.ANY: {TITLE: 5.0, SUMMARY: 2.0, CONTENT: 1.0, FEED_CONTENT: 1.0, AUTHOR: 2.0},
    Field.TITLE: {TITLE: 5.0},
    Field.AUTHOR: {AUTHOR: 2.0},
}
# A question's words stand anywhere; where the same word stands in several fields, the best counts most.
WEIGHTS_OF_A_QUESTION = {TITLE: 2.0, SUMMARY: 1.2, CONTENT: 1.0, FEED_CONTENT: 1.0}
TIE = 0.2
# About what a common word scores: another form of a word is a hint, not a hit.
STEM_SCORE = 1.5
# No score inside a tier reaches the next one.
TIER = 500.0


class Tolerance(IntEnum):
    EXACT = 0
    BEGINNINGS = 1
    SLIPS = 2
    # What stands in quotes too.
    SLIPS_IN_QUOTES = 3


class QueryBuilder:
    """For one index's schema."""

    def __init__(self, schema: "tantivy.Schema", feed_ids: Sequence[int] | None) -> None:
        self._schema = schema
        self._feed_ids = feed_ids

    def build(self, query: SearchQuery, tolerance: Tolerance) -> "tantivy.Query":
        return self._framed(query, self._all([self._clause(clause, tolerance) for clause in query.wanted]))

    def any_of(self, terms: Sequence[str]) -> "tantivy.Query":
        """Whatever has one of the terms, also in another form of the word; the more and the rarer, the better."""
        import tantivy

        ways = []
        for term in terms:
            exact = [
                tantivy.Query.boost_query(tantivy.Query.term_query(self._schema, name, term, "freq"), weight)
                for name, weight in WEIGHTS_OF_A_QUESTION.items()
            ]
            ways.append(tantivy.Query.disjunction_max_query(exact, TIE))
            if stem := stem_of(term):
                ways.append(self._tier(self._beginning_with(WORDS, stem), STEM_SCORE))
        return self._framed(SearchQuery(()), self._any(ways))

    def _framed(self, query: SearchQuery, wanted: "tantivy.Query") -> "tantivy.Query":
        import tantivy

        parts = [(tantivy.Occur.Must, wanted)]
        parts += [(tantivy.Occur.Should, one) for one in self._together(query)]
        parts += [(tantivy.Occur.MustNot, self._exact(clause)) for clause in query.unwanted]
        if self._feed_ids is not None:
            feeds = tantivy.Query.term_set_query(self._schema, FEED, list(self._feed_ids))
            parts.append((tantivy.Occur.Must, self._tier(feeds, 0.0)))
        return tantivy.Query.boolean_query(parts)

    def _together(self, query: SearchQuery) -> "Sequence[tantivy.Query]":
        """Words that were typed one after the other count more where they stand so."""
        import tantivy

        plain = [clause for clause in query.wanted if clause.field is Field.ANY and len(clause.words) == 1]
        terms = [clause.words[0].text for clause in plain if not clause.words[0].unspaced]
        if len(terms) < 2 or len(terms) != len(query.wanted):
            return ()
        return [
            tantivy.Query.boost_query(tantivy.Query.phrase_query(self._schema, name, list(terms)), weight)
            for name, weight in ((TITLE, 5.0), (CONTENT, 2.0))
        ]

    def _clause(self, clause: Clause, tolerance: Tolerance) -> "tantivy.Query":
        exact, ways = self._exact(clause), []
        if tolerance >= Tolerance.BEGINNINGS and not clause.exact and may_begin_a_word(clause.words[-1]):
            ways.append(self._tier(self._begun(clause), TIER))
        slips = tolerance >= (Tolerance.SLIPS_IN_QUOTES if clause.exact else Tolerance.SLIPS)
        if slips and any(may_be_misspelt(word) for word in clause.words):
            ways.append(self._tier(self._all([self._near(word, clause.field) for word in clause.words]), 1.0))
        # With one way there is one tier.
        return self._any([exact, self._tier(self._cheap(clause) or exact, TIER), *ways]) if ways else exact

    def _exact(self, clause: Clause) -> "tantivy.Query":
        import tantivy

        return self._any(
            [
                tantivy.Query.boost_query(self._exact_in(name, clause), weight)
                for name, weight in WEIGHTS[clause.field].items()
            ]
        )

    def _cheap(self, clause: Clause) -> "tantivy.Query | None":
        """The same documents as `_exact`, without a score, for one word anywhere."""
        if clause.field is not Field.ANY or len(clause.words) > 1 or clause.words[0].unspaced:
            return None
        return self._exact_in(WORDS, clause)

    def _exact_in(self, name: str, clause: Clause) -> "tantivy.Query":
        import tantivy

        if _is_one_character(clause):
            return self._beginning_with(name, clause.words[0].text)
        terms = _terms(clause)
        if len(terms) == 1:
            option = "basic" if name == WORDS else "position"
            return tantivy.Query.term_query(self._schema, name, terms[0][1], option)
        return tantivy.Query.phrase_query(self._schema, name, list(terms))

    def _begun(self, clause: Clause) -> "tantivy.Query":
        """German compounds, plurals, and words half typed."""
        import tantivy

        terms = _terms(clause)
        if len(terms) == 1:
            return self._beginning_with(_dictionary(clause.field), terms[0][1])
        return self._any(
            [tantivy.Query.phrase_prefix_query(self._schema, name, list(terms)) for name in WEIGHTS[clause.field]]
        )

    def _near(self, word: Word, field: Field) -> "tantivy.Query":
        import tantivy

        if not may_be_misspelt(word):
            return self._exact(Clause((Word(word.text, 0, word.unspaced),), field=field))
        return tantivy.Query.fuzzy_term_query(
            self._schema, _dictionary(field), word.text, prefix=may_begin_misspelt(word)
        )

    def _beginning_with(self, name: str, text: str) -> "tantivy.Query":
        import tantivy

        # A quarter of the time that a pattern takes.
        return tantivy.Query.fuzzy_term_query(self._schema, name, text, distance=0, prefix=True)

    def _tier(self, query: "tantivy.Query", score: float) -> "tantivy.Query":
        import tantivy

        return tantivy.Query.const_score_query(query, score)

    def _any(self, queries: "Sequence[tantivy.Query]") -> "tantivy.Query":
        import tantivy

        return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])

    def _all(self, queries: "Sequence[tantivy.Query]") -> "tantivy.Query":
        """Everything, when nothing in particular is wanted: `-word` alone means all but that."""
        import tantivy

        if not queries:
            return tantivy.Query.all_query()
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def _dictionary(field: Field) -> str:
    """Where beginnings and slips are looked for."""
    (name, *others) = WEIGHTS[field]
    return WORDS if others else name


def _is_one_character(clause: Clause) -> bool:
    """One character of a script without spaces: every one begins a pair."""
    return len(clause.words) == 1 and clause.words[0].unspaced and len(clause.words[0].text) == 1


def _terms(clause: Clause) -> list[tuple[int, str]]:
    """Terms with their places, counted from the first."""
    first = clause.words[0].position
    return [
        (word.position - first + place, term)
        for word in clause.words
        for place, term in enumerate(split_pairs(word.text) if word.unspaced else (word.text,))
    ]
