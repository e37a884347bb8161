"""`pressbox bench search`, small."""

import pytest

from pressbox.bench.library import articles, vocabularies
from pressbox.bench.search import run_search


def test_articles_are_the_same_in_every_run_and_of_all_languages() -> None:
    first, again = list(articles(200, words=30)), list(articles(200, words=30))
    assert first == again
    assert {article.language for article in first} == {vocabulary.language for vocabulary in vocabularies()}
    assert len({article.number for article in first}) == 200


@pytest.mark.slow
def test_every_kind_of_query_is_measured_with_both_indices_beside_postgres() -> None:
    report = run_search(lambda _: None, count=300, queries=6)
    figures = {figure.name: figure for figure in report.figures}
    assert figures["articles indexed"].value > 0
    for kind in ("word", "phrase", "prefix", "compound", "typo", "CJK"):
        assert figures[f"{kind}: p50"].note == "6 of 6 queries find something"
        assert figures[f"{kind}: p95"].peer
        assert figures[f"{kind}: p95"].value > 0
        in_tables = figures[f"{kind}, in tables: p95"]
        assert in_tables.peer == figures[f"{kind}: p95"].value
        assert "queries have the same number of hits" in in_tables.note
