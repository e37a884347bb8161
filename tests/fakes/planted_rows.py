"""Rows in any table, with whatever its columns need: for tests that must cover tables that do not exist yet."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary, Table, Text, Time, insert
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.base import Base

# Words that code reads back: not any text will do.
FIXED: Mapping[str, Mapping[str, Any]] = {
    "core.users": {"role": "member"},
    "soonish.events": {
        "status": "active",
        "visibility": "private",
        "timezone": "UTC",
        "start_date": datetime(2099, 1, 1, tzinfo=UTC),
    },
    "soonish.subscriptions": {"state": "active"},
    "curator.research_runs": {"state": "done"},
    "core.spoiler_choices": {"mode": "hidden"},
    "core.digests": {"rhythm": "daily", "zone": "UTC"},
    "core.digest_issues": {"rhythm": "daily", "sections": []},
}
VALUES: Mapping[type[Any], Any] = {
    Boolean: True,
    Integer: 1,
    Float: 1.0,
    DateTime: datetime(2026, 1, 1, tzinfo=UTC),
    Time: time(7, 30),
    ARRAY: list,
    JSONB: dict,
    LargeBinary: lambda: secrets.token_bytes(8),
    Text: lambda: secrets.token_hex(8),
}


async def plant(session: AsyncSession, table: Table, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Insert a row with these values, and return the whole row; rows that it points to are planted first."""
    filled = {**FIXED.get(table.fullname, {}), **values}
    for column in table.columns:
        if column.name not in filled and _is_needed(column):
            filled[column.name] = await _value(session, column)
    row = (await session.execute(insert(table).values(filled).returning(table))).one()
    return row._asdict()


def _is_needed(column: Column[Any]) -> bool:
    numbered = column.primary_key and isinstance(column.type, Integer) and not column.foreign_keys
    return not column.nullable and column.server_default is None and not numbered


async def _value(session: AsyncSession, column: Column[Any]) -> Any:
    for key in column.foreign_keys:
        parent = Base.metadata.tables[key.target_fullname.rpartition(".")[0]]
        return (await plant(session, parent, {}))[key.target_fullname.rpartition(".")[2]]
    for kind, value in VALUES.items():
        if isinstance(column.type, kind):
            return value() if callable(value) else value
    raise TypeError(f"{column} has a type that nobody planted yet.")
