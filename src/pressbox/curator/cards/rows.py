"""The table of cards."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, ForeignKey, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.library.rows import SCHEMA


class EnrichmentRow(Base):
    """A card beside an entry: a repository on GitHub, or a page that a link leads to. `body_html` is sanitised."""

    __tablename__ = "enrichments"
    __table_args__ = (UniqueConstraint("entry_id", "kind", "key"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text, server_default="")
    url: Mapped[str] = mapped_column(Text, server_default="")
    body_html: Mapped[str] = mapped_column(Text, server_default="")
    facts: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    # Why it could not be read, when it could not.
    reason: Mapped[str] = mapped_column(Text, server_default="")
    # Somebody deleted it; its workflow takes it away.
    hidden: Mapped[bool] = mapped_column(Boolean, server_default="false")
    at: Mapped[datetime]
