"""The tables of what is made of an entry beside its summary: context, links, enrichments."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Integer, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.library.rows import SCHEMA


class EntryContextRow(Base):
    """What an entry is about. `method` says who found it out: rules of ours, or a model."""

    __tablename__ = "entry_contexts"
    __table_args__ = (SCHEMA,)

    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True)
    content_hash: Mapped[str] = mapped_column(Text)
    method: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text, server_default="")
    prompt_version: Mapped[str] = mapped_column(Text, server_default="")
    domain: Mapped[str] = mapped_column(Text, server_default="")
    content_type: Mapped[str] = mapped_column(Text, server_default="")
    language: Mapped[str] = mapped_column(Text, server_default="")
    entities: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    relationships: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    key_points: Mapped[list[str]] = mapped_column(JSONB, server_default="[]")
    at: Mapped[datetime]


class EntryLinkRow(Base):
    """A link that the text of an entry has. Nothing behind it is read unless a person asks."""

    __tablename__ = "entry_links"
    __table_args__ = (UniqueConstraint("entry_id", "url"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"))
    url: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text, server_default="")
    position: Mapped[int] = mapped_column(Integer, server_default="0")
