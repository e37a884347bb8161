"""Which applications this installation has: the one list that worker, web, command line and schedules loop over."""

from pressbox.core.app import AppManifest
from pressbox.core.config import Groups, Settings
from pressbox.curator.manifest import APP as CURATOR
from pressbox.demo.manifest import APP as DEMO
from pressbox.footy.manifest import APP as FOOTY
from pressbox.maintenance.manifest import APP as MAINTENANCE
from pressbox.soonish.manifest import APP as SOONISH

APPLICATIONS: tuple[AppManifest, ...] = (FOOTY, SOONISH, CURATOR, MAINTENANCE)


def settings_groups() -> Groups:
    return {manifest.name: manifest.settings for manifest in APPLICATIONS if manifest.settings is not None}


def manifests(settings: Settings) -> tuple[AppManifest, ...]:
    """All applications; the demo world's own workflows only where they are asked for."""
    return (*APPLICATIONS, DEMO) if settings.demo else APPLICATIONS
