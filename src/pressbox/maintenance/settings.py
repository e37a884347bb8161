"""Settings of maintenance: PRESSBOX_MAINTENANCE_…"""

from pydantic import Field

from pressbox.core.config import Group


class MaintenanceSettings(Group):
    """What the hourly MaintenanceWorkflow keeps."""

    changes_minutes: int = Field(60, ge=1, description="Minutes that a browser can be away and still catch up.")
    progress_days: int = Field(7, ge=1, description="Days that finished workflows stay on the activity page.")
    scratch_hours: int = Field(24, ge=1, description="Hours that scratch objects are kept.")
