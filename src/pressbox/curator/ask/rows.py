"""The tables of conversations and their answers."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, Text, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.library.rows import SCHEMA


class ConversationRow(Base):
    """A person's questions that belong together, over one entry or over everything they read."""

    __tablename__ = "conversations"
    __table_args__ = (Index(None, "user_id", "updated_at"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    # When the entry is cleaned up, what was asked and answered about it stays.
    entry_id: Mapped[int | None] = mapped_column(ForeignKey("curator.entries.id", ondelete="SET NULL"), index=True)
    title: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class AnswerRow(Base):
    """A question and its answer, which grows while it is written. `passages` is what it stands on, in order."""

    __tablename__ = "answers"
    __table_args__ = (UniqueConstraint("conversation_id", "position"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    conversation_id: Mapped[int] = mapped_column(ForeignKey("curator.conversations.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(Integer)
    question: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    # Who answered: a model, or nobody, and the passages are the answer.
    method: Mapped[str] = mapped_column(Text, server_default="")
    model: Mapped[str] = mapped_column(Text, server_default="")
    prompt_version: Mapped[str] = mapped_column(Text, server_default="")
    text: Mapped[str] = mapped_column(Text, server_default="")
    passages: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    reason: Mapped[str] = mapped_column(Text, server_default="")
    trace_id: Mapped[str] = mapped_column(Text, server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]
