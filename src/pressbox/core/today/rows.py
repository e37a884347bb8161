"""How people arranged their first page."""

from sqlalchemy import BigInteger, ForeignKey, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base


class FrontPageRow(Base):
    """The sections of one person in their order. One that is named nowhere stands behind those that are."""

    __tablename__ = "front_pages"
    __table_args__ = ({"schema": "core"},)

    user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    sections: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'::text[]"))
    hidden: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'::text[]"))
