"""Pairs two small groups at the least total cost. Pure."""

from collections.abc import Sequence

_INFINITE = float("inf")


def cheapest_pairs(
    costs: Sequence[Sequence[float | None]], row_alone: Sequence[float], column_alone: Sequence[float]
) -> list[tuple[int, int]]:
    """Pair rows with columns so that pairs and unpaired ones together cost the least.

    `costs[row][column]` is None where the two cannot be paired; the other two lists are the costs of staying unpaired.
    """
    rows, columns = len(row_alone), len(column_alone)
    if not rows or not columns:
        return []
    never = 1 + sum(row_alone) + sum(column_alone) + sum(c for row in costs for c in row if c is not None)
    # A square: each row gets an extra column for staying unpaired, each column an extra row.
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
    """The column of each row in a cheapest perfect assignment: the Hungarian method with potentials, in cubic time.

    Index 0 of the working lists is a virtual column from which each new row starts.
    """
    size = len(costs)
    row_potential = [0.0] * (size + 1)
    column_potential = [0.0] * (size + 1)
    row_of = [0] * (size + 1)
    for row in range(1, size + 1):
        row_of[0] = row
        came_from = _shortest_path(costs, row_of, row_potential, column_potential)
        column = next(index for index in range(1, size + 1) if row_of[index] == 0 and came_from[index] >= 0)
        while column:
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    column_of = [0] * size
    for column in range(1, size + 1):
        column_of[row_of[column] - 1] = column - 1
    return column_of


def _shortest_path(
    costs: Sequence[Sequence[float]], row_of: list[int], row_potential: list[float], column_potential: list[float]
) -> list[int]:
    """Search for a free column; returns from where each column was reached, -1 for those that were not."""
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
