"""The tables of research runs and their steps."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Float, ForeignKey, Index, Integer, Text, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.library.rows import SCHEMA


class ResearchRunRow(Base):
    """`sources` are what the report cites as [number]: each with its `material` and the `quotes` that were noted."""

    __tablename__ = "research_runs"
    __table_args__ = (Index(None, "user_id", "created_at"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    question: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    limits: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    method: Mapped[str] = mapped_column(Text, server_default="")
    model: Mapped[str] = mapped_column(Text, server_default="")
    tokens: Mapped[int] = mapped_column(Integer, server_default="0")
    # How long it worked, without waiting and standing still.
    seconds: Mapped[float] = mapped_column(Float, server_default="0")
    report: Mapped[str] = mapped_column(Text, server_default="")
    sources: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    reason: Mapped[str] = mapped_column(Text, server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


class ResearchStepRow(Base):
    """One visible step of a run: what it planned, searched, read or wrote, and what came of it."""

    __tablename__ = "research_steps"
    __table_args__ = (UniqueConstraint("run_id", "position"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("curator.research_runs.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(Integer)
    round: Mapped[int] = mapped_column(Integer, server_default="0")
    kind: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    result: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    tokens: Mapped[int] = mapped_column(Integer, server_default="0")
    at: Mapped[datetime] = mapped_column(server_default=func.now())
