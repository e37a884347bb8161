"""Which applications this installation has: the one list that worker, web, command line and schedules loop over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pressbox.core.app import AppManifest
from pressbox.curator.manifest import APP as CURATOR
from pressbox.demo.manifest import APP as DEMO
from pressbox.footy.manifest import APP as FOOTY
from pressbox.maintenance.manifest import APP as MAINTENANCE
from pressbox.soonish.manifest import APP as SOONISH

if TYPE_CHECKING:
    from pressbox.core.config import Groups, Settings

APPLICATIONS: tuple[AppManifest, ...] = (FOOTY, SOONISH, CURATOR, MAINTENANCE)


def manifests(settings: Settings) -> tuple[AppManifest, ...]:
    """All applications; the demo world's own workflows only where they are asked for."""
    return (*APPLICATIONS, DEMO) if settings.demo else APPLICATIONS


def settings_groups() -> Groups:
    return {manifest.name: manifest.settings() for manifest in APPLICATIONS if manifest.settings is not None}
