"""Pairs two small groups at the least total cost, exactly. Pure."""

from collections.abc import Sequence

_INFINITE = float("inf")


def cheapest_pairs(
    costs: Sequence[Sequence[float | None]], row_alone: Sequence[float], column_alone: Sequence[float]
) -> list[tuple[int, int]]:
    """Which rows go with which columns, so that pairs and what stays alone cost the least together.

    `costs[row][column]` is None where the two cannot be a pair. Every row and column may stay alone at a price.
    """
    rows, columns = len(row_alone), len(column_alone)
    if not rows or not columns:
        return []
    never = 1 + sum(row_alone) + sum(column_alone) + sum(c for row in costs for c in row if c is not None)
    # A square: each row gets a column of its own to be alone in, each column a row.
    square = [
        [never if cost is None else cost for cost in costs[row]]
        + [row_alone[row] if other == row else never for other in range(rows)]
        for row in range(rows)
    ] + [
        [column_alone[column] if other == column else never for other in range(columns)] + [0.0] * rows
        for column in range(columns)
    ]
    return [
        (row, column)
        for row, column in enumerate(_hungarian(square)[:rows])
        if column < columns and costs[row][column] is not None
    ]


def _hungarian(costs: Sequence[Sequence[float]]) -> list[int]:
    """The column of each row in a cheapest perfect assignment: Kuhn's method with potentials, cubic in the size.

    Index 0 of the working lists is a place outside the matrix from which each new row starts.
    """
    size = len(costs)
    row_potential = [0.0] * (size + 1)
    column_potential = [0.0] * (size + 1)
    row_of = [0] * (size + 1)
    for row in range(1, size + 1):
        row_of[0] = row
        came_from = _shortest_way(costs, row_of, row_potential, column_potential)
        column = next(index for index in range(1, size + 1) if row_of[index] == 0 and came_from[index] >= 0)
        while column:
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    column_of = [0] * size
    for column in range(1, size + 1):
        column_of[row_of[column] - 1] = column - 1
    return column_of


def _shortest_way(
    costs: Sequence[Sequence[float]], row_of: list[int], row_potential: list[float], column_potential: list[float]
) -> list[int]:
    """Search until a free column is reached; where each reached column was reached from, -1 for the others."""
    size = len(costs)
    slack = [_INFINITE] * (size + 1)
    towards = [0] * (size + 1)
    done = [False] * (size + 1)
    column = 0
    while True:
        done[column] = True
        row = row_of[column]
        for other in range(1, size + 1):
            reduced = costs[row - 1][other - 1] - row_potential[row] - column_potential[other]
            if not done[other] and reduced < slack[other]:
                slack[other], towards[other] = reduced, column
        step, following = min((slack[other], other) for other in range(1, size + 1) if not done[other])
        for other in range(size + 1):
            if done[other]:
                row_potential[row_of[other]] += step
                column_potential[other] -= step
            else:
                slack[other] -= step
        column = following
        if row_of[column] == 0:
            done[column] = True
            return [towards[index] if done[index] else -1 for index in range(size + 1)]
