"""The cheapest pairs are the cheapest: every other way to pair is tried."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from pressbox.footy.domain.assignment import cheapest_pairs

SOMETIMES_IMPOSSIBLE = st.one_of(st.none(), st.integers(0, 120))


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[list[int | None]], list[int], list[int]]:
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    costs = [[draw(SOMETIMES_IMPOSSIBLE) for _ in range(columns)] for _ in range(rows)]
    prices = st.integers(0, 60)
    return costs, [draw(prices) for _ in range(rows)], [draw(prices) for _ in range(columns)]


def total(
    pairs: list[tuple[int, int]], costs: list[list[int | None]], row_alone: list[int], column_alone: list[int]
) -> int:
    rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
    assert len(rows) == len(columns) == len(pairs)
    together = [costs[row][column] for row, column in pairs]
    assert None not in together
    return (
        sum(cost for cost in together if cost is not None)
        + sum(price for row, price in enumerate(row_alone) if row not in rows)
        + sum(price for column, price in enumerate(column_alone) if column not in columns)
    )


@settings(max_examples=150)
@given(problems())
def test_no_other_way_to_pair_is_cheaper(problem: tuple[list[list[int | None]], list[int], list[int]]) -> None:
    costs, row_alone, column_alone = problem
    found = total(cheapest_pairs(costs, row_alone, column_alone), costs, row_alone, column_alone)

    best = found
    for size in range(min(len(row_alone), len(column_alone)) + 1):
        for rows in itertools.combinations(range(len(row_alone)), size):
            for columns in itertools.permutations(range(len(column_alone)), size):
                pairs = list(zip(rows, columns, strict=True))
                if all(costs[row][column] is not None for row, column in pairs):
                    best = min(best, total(pairs, costs, row_alone, column_alone))
    assert found == best


def test_who_has_nobody_stays_alone() -> None:
    assert cheapest_pairs([], [], [5.0]) == []
    assert cheapest_pairs([[None]], [1.0], [1.0]) == []
