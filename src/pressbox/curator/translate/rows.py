"""The table of translations."""

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ForeignKey, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.library.rows import SCHEMA


class EntryTranslationRow(Base):
    """An entry in another language: `blocks` has the translation of each block, or the reason why there is none."""

    __tablename__ = "entry_translations"
    __table_args__ = (SCHEMA,)

    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True)
    language: Mapped[str] = mapped_column(Text, primary_key=True)
    provider: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text, server_default="")
    # Of the text that was translated: another text needs another translation.
    content_hash: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text, server_default="")
    blocks: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    # Nothing of that text is left to translate.
    complete: Mapped[bool] = mapped_column(Boolean, server_default="false")
    at: Mapped[datetime]
