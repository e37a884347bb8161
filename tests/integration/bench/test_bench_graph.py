"""`pressbox bench graph`, small."""

import pytest

from pressbox.bench.graph import run_graph
from pressbox.bench.graph_library import contexts


def test_what_entries_say_is_the_same_in_every_run() -> None:
    first, again = list(contexts(500)), list(contexts(500))
    assert first == again
    said = {(one.source, one.target, one.relation) for context in first for one in context.relationships}
    assert len(said) >= 500


@pytest.mark.slow
def test_adding_and_neighbours_are_measured_beside_plainer_ways() -> None:
    report = run_graph(lambda _: None, edges=400, queries=8)
    figures = {figure.name: figure for figure in report.figures}
    assert figures["entries added"].value > 0
    assert figures["entries added"].peer
    (at_95,) = [figure for name, figure in figures.items() if name.startswith("neighbours") and name.endswith("p95")]
    assert at_95.peer
    assert at_95.value > 0
