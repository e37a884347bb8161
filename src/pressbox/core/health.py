"""Is every part well? The same answers serve `/readyz`, the status page and `pressbox doctor`."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class HealthState(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class PartHealth:
    """One part. `detail` says what is the matter, `fix` what to do about it; both are for people."""

    name: str
    state: HealthState
    detail: str
    fix: str = ""
    version: str = ""
    since: datetime | None = None
    lag_seconds: float | None = None
