"""What we last told Temporal about each declared schedule: how a user's own change is told from ours."""

from datetime import datetime
from typing import Any

from sqlalchemy import Text, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base


class ScheduleRow(Base):
    __tablename__ = "schedules"
    __table_args__ = ({"schema": "core"},)

    schedule_id: Mapped[str] = mapped_column(Text, primary_key=True)
    # The declaration in the code, and the timetable that Temporal described right after we applied it.
    declared: Mapped[dict[str, Any]] = mapped_column(JSONB)
    applied_spec: Mapped[dict[str, Any]] = mapped_column(JSONB)
    applied_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
