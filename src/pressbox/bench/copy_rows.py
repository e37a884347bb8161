"""Fills tables of the curator by COPY, which is the fastest way."""

from collections.abc import Iterable, Sequence

import psycopg
from psycopg import sql

Row = tuple[object, ...]


def copy_rows(connection: psycopg.Connection, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
    statement = sql.SQL("COPY curator.{} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
