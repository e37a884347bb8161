"""The tables of spending: requests that were sent, and claims on work."""

from datetime import datetime

from sqlalchemy import BigInteger, Float, Index, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base


class PaidRequestRow(Base):
    """The ledger: one row for each request to a paid service, whatever came back, with the answer if it is of use."""

    __tablename__ = "paid_requests"
    __table_args__ = (
        Index("ix_paid_requests_work", "content_hash", "prompt_version", "model", "feature"),
        Index(None, "at"),
        {"schema": "core"},
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    content_hash: Mapped[str] = mapped_column(Text)
    prompt_version: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text)
    feature: Mapped[str] = mapped_column(Text)
    # Ids of the application, such as an entry and its feed.
    item_id: Mapped[int | None] = mapped_column(BigInteger)
    source_id: Mapped[int | None] = mapped_column(BigInteger)
    outcome: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text, server_default="")
    answer: Mapped[str] = mapped_column(Text, server_default="")
    tokens_in: Mapped[int] = mapped_column(Integer)
    tokens_out: Mapped[int] = mapped_column(Integer)
    characters: Mapped[int] = mapped_column(Integer, server_default="0")
    posts: Mapped[int] = mapped_column(Integer, server_default="0")
    # The tokens that it takes of the day's budget.
    weight: Mapped[int] = mapped_column(Integer)
    cost: Mapped[float] = mapped_column(Float, server_default="0")
    at: Mapped[datetime]
    # While it runs: afterwards its process counts as dead.
    until: Mapped[datetime | None]


class ClaimRow(Base):
    """Who does a piece of work right now, and until when nobody else begins it."""

    __tablename__ = "claims"
    __table_args__ = ({"schema": "core"},)

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    owner: Mapped[str] = mapped_column(Text)
    until: Mapped[datetime]
