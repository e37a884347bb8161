"""The latest progress of every workflow: one row each, whatever the number of reports."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base

WORKFLOW_CHANGED = "workflow"


class ProgressRow(Base):
    __tablename__ = "workflow_progress"
    __table_args__ = (
        Index(None, "parent_workflow_id"),
        Index(None, "state", "updated_at"),
        Index(None, "started_at"),
        {"schema": "core"},
    )

    workflow_id: Mapped[str] = mapped_column(Text, primary_key=True)
    run_id: Mapped[str] = mapped_column(Text)
    workflow_type: Mapped[str] = mapped_column(Text)
    task_queue: Mapped[str] = mapped_column(Text)
    # No foreign key: a child may report before its parent does.
    parent_workflow_id: Mapped[str | None] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    done: Mapped[int] = mapped_column(Integer)
    total: Mapped[int | None] = mapped_column(Integer)
    message: Mapped[str] = mapped_column(Text)
    error: Mapped[str] = mapped_column(Text)
    detail: Mapped[dict[str, Any]] = mapped_column(JSONB)
    # None: written by a version that did not say; nobody but administrators sees that it exists.
    audience: Mapped[str | None] = mapped_column(Text)
    audience_id: Mapped[int | None] = mapped_column(BigInteger)
    started_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
