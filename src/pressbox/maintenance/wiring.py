"""From the process's resources to the activities of maintenance."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pressbox.core.app import Resources
from pressbox.maintenance.activities import MaintenanceActivities
from pressbox.maintenance.adapters.records import SqlRecords
from pressbox.maintenance.adapters.scratch import ObjectScratch
from pressbox.maintenance.contracts import MaintenancePolicy
from pressbox.maintenance.ids import QUEUE
from pressbox.maintenance.settings import MaintenanceSettings


def activities(resources: Resources) -> Mapping[str, Sequence[Callable[..., Any]]]:
    prune = MaintenanceActivities(SqlRecords(resources.database), ObjectScratch(resources.objects))
    return {
        QUEUE: (
            prune.prune_sessions,
            prune.prune_tokens,
            prune.prune_rate_limits,
            prune.prune_changes,
            prune.prune_progress,
            prune.prune_scratch_objects,
        )
    }


def policy(settings: MaintenanceSettings) -> MaintenancePolicy:
    return MaintenancePolicy(
        keep_changes=timedelta(minutes=settings.changes_minutes),
        keep_progress=timedelta(days=settings.progress_days),
        keep_scratch=timedelta(hours=settings.scratch_hours),
    )
