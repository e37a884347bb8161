"""From what a person meant to what tantivy searches.

Scores are made of tiers, so that hits with exactly the words come before those that only begin with them, and those
before hits with words that are nearly the same. Inside a tier the title counts more than the text.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.curator.adapters.index.schema import AUTHOR, CONTENT, FEED, FEED_CONTENT, SUMMARY, TITLE
from pressbox.curator.domain.searching import (
    Clause,
    Field,
    SearchQuery,
    may_be_misspelt,
    may_begin_a_word,
    may_begin_misspelt,
)
from pressbox.curator.domain.words import Word, pairs

if TYPE_CHECKING:
    import tantivy

WEIGHTS = {
    Field.ANY: {TITLE: 5.0, SUMMARY: 2.0, CONTENT: 1.0, FEED_CONTENT: 1.0, AUTHOR: 2.0},
    Field.TITLE: {TITLE: 5.0},
    Field.AUTHOR: {AUTHOR: 2.0},
}
EXACT_TIER, BEGINNING_TIER = 1000.0, 500.0
BEGINNING_SCORE, NEAR_SCORE = 0.3, 0.1


class QueryBuilder:
    """For one index's schema."""

    def __init__(self, schema: "tantivy.Schema", feed_ids: Sequence[int] | None) -> None:
        self._schema = schema
        self._feed_ids = feed_ids

    def strict(self, query: SearchQuery) -> "tantivy.Query":
        """All words, as they are or as the beginning of longer ones."""
        exact = self._all([self._exact(clause) for clause in query.wanted])
        begun = self._all([self._begun(clause) for clause in query.wanted])
        return self._framed(query, begun, [self._tier(exact, EXACT_TIER)])

    def tolerant(self, query: SearchQuery, *, quotes: bool) -> "tantivy.Query":
        """All words, or words that are nearly the same; what stands in quotes too when `quotes` says so."""
        exact = self._all([self._exact(clause) for clause in query.wanted])
        begun = self._all([self._begun(clause) for clause in query.wanted])
        near = self._all(
            [self._begun(clause) if clause.exact and not quotes else self._near(clause) for clause in query.wanted]
        )
        return self._framed(query, near, [self._tier(exact, EXACT_TIER), self._tier(begun, BEGINNING_TIER)])

    def _framed(
        self, query: SearchQuery, wanted: "tantivy.Query", better: "Sequence[tantivy.Query]"
    ) -> "tantivy.Query":
        import tantivy

        parts = [(tantivy.Occur.Must, wanted)]
        parts += [(tantivy.Occur.Should, one) for one in (*better, *self._together(query))]
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
            tantivy.Query.boost_query(tantivy.Query.phrase_query(self._schema, name, list(terms), slop=1), weight)
            for name, weight in ((TITLE, 5.0), (CONTENT, 2.0))
        ]

    def _exact(self, clause: Clause) -> "tantivy.Query":
        import tantivy

        return self._any(
            [
                tantivy.Query.boost_query(self._exact_in(name, clause), weight)
                for name, weight in WEIGHTS[clause.field].items()
            ]
        )

    def _exact_in(self, name: str, clause: Clause) -> "tantivy.Query":
        import tantivy

        if _is_one_character(clause):
            return self._beginning_with(name, clause.words[0].text)
        terms = _terms(clause)
        if len(terms) == 1:
            return tantivy.Query.term_query(self._schema, name, terms[0][1])
        return tantivy.Query.phrase_query(self._schema, name, list(terms))

    def _begun(self, clause: Clause) -> "tantivy.Query":
        """As it is, or as the beginning of a longer word: German compounds, plurals, and words half typed."""
        import tantivy

        if clause.exact or not may_begin_a_word(clause.words[-1]):
            return self._exact(clause)
        longer = [
            self._tier(self._begun_in(name, clause), BEGINNING_SCORE * weight)
            for name, weight in WEIGHTS[clause.field].items()
        ]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in (self._exact(clause), *longer)])

    def _begun_in(self, name: str, clause: Clause) -> "tantivy.Query":
        import tantivy

        terms = _terms(clause)
        if len(terms) == 1:
            return self._beginning_with(name, terms[0][1])
        return tantivy.Query.phrase_prefix_query(self._schema, name, list(terms))

    def _near(self, clause: Clause) -> "tantivy.Query":
        if not any(may_be_misspelt(word) for word in clause.words):
            return self._begun(clause)
        every = self._all([self._near_word(word, clause.field) for word in clause.words])
        return self._any([self._begun(clause), every])

    def _near_word(self, word: Word, field: Field) -> "tantivy.Query":
        import tantivy

        alone = Clause((Word(word.text, 0, word.unspaced),), field=field)
        if not may_be_misspelt(word):
            return self._begun(alone)
        near = [
            self._tier(
                tantivy.Query.fuzzy_term_query(self._schema, name, word.text, prefix=may_begin_misspelt(word)),
                NEAR_SCORE * weight,
            )
            for name, weight in WEIGHTS[field].items()
        ]
        return self._any([self._exact(alone), *near])

    def _beginning_with(self, name: str, text: str) -> "tantivy.Query":
        import tantivy

        return tantivy.Query.regex_query(self._schema, name, f"{re.escape(text)}.*")

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


def _is_one_character(clause: Clause) -> bool:
    """One character of a script without spaces: every one begins a pair."""
    return len(clause.words) == 1 and clause.words[0].unspaced and len(clause.words[0].text) == 1


def _terms(clause: Clause) -> list[tuple[int, str]]:
    """Terms with their places, counted from the first."""
    first = clause.words[0].position
    return [
        (word.position - first + place, term)
        for word in clause.words
        for place, term in enumerate(pairs(word.text) if word.unspaced else (word.text,))
    ]
