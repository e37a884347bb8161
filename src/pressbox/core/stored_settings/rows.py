"""Settings that were set on pages, sealed."""

from datetime import datetime

from sqlalchemy import LargeBinary, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base


class StoredSettingRow(Base):
    __tablename__ = "stored_settings"
    __table_args__ = ({"schema": "core"},)

    # The place in the tree of settings, such as `footy.api_key`.
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    sealed_value: Mapped[bytes] = mapped_column(LargeBinary)
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())
