"""Settings of maintenance: PRESSBOX_MAINTENANCE_…"""

from datetime import timedelta

from pydantic import Field

from pressbox.core.config import Group
from pressbox.maintenance.contracts import MaintenancePolicy


class MaintenanceSettings(Group):
    """What the hourly MaintenanceWorkflow keeps."""

    changes_minutes: int = Field(60, ge=1, description="Minutes that a browser can be away and still catch up.")
    progress_days: int = Field(7, ge=1, description="Days that finished workflows stay on the activity page.")
    scratch_hours: int = Field(24, ge=1, description="Hours that scratch objects are kept.")

    audit_days: int = Field(365, ge=1, le=36500, description="Days that lines of the audit log are kept.")

    notice_days: int = Field(90, ge=1, le=36500, description="Days that notices stay in the inbox.")

    @property
    def policy(self) -> MaintenancePolicy:
        return MaintenancePolicy(
            keep_changes=timedelta(minutes=self.changes_minutes),
            keep_progress=timedelta(days=self.progress_days),
            keep_scratch=timedelta(hours=self.scratch_hours),
            keep_audit_log=timedelta(days=self.audit_days),
            keep_notices=timedelta(days=self.notice_days),
        )
