"""The table of scores."""

from datetime import datetime

from sqlalchemy import BigInteger, Float, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.library.rows import SCHEMA


class EvaluationRow(Base):
    """One score of an answer or of a summary. `model` and `prompt_version` are those of what was judged."""

    __tablename__ = "evaluations"
    __table_args__ = (
        UniqueConstraint("kind", "subject_id", "metric", "evaluator", "trace_id"),
        Index(None, "kind", "at"),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    # An answer by its id, or a summary by its entry's.
    kind: Mapped[str] = mapped_column(Text)
    subject_id: Mapped[int] = mapped_column(BigInteger)
    metric: Mapped[str] = mapped_column(Text)
    score: Mapped[float] = mapped_column(Float)
    evaluator: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text, server_default="")
    prompt_version: Mapped[str] = mapped_column(Text, server_default="")
    trace_id: Mapped[str] = mapped_column(Text, server_default="")
    at: Mapped[datetime]
