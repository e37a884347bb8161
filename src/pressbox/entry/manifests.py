"""Which applications this installation has: the one list that worker, web, command line and schedules loop over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pressbox.core.app import AppManifest
from pressbox.curator.manifest import APP as CURATOR
from pressbox.delivery.manifest import APP as DELIVERY
from pressbox.demo.manifest import APP as DEMO
from pressbox.digest.manifest import APP as DIGEST
from pressbox.footy.manifest import APP as FOOTY
from pressbox.inbox.manifest import APP as INBOX
from pressbox.maintenance.manifest import APP as MAINTENANCE
from pressbox.matchday.manifest import APP as MATCHDAY
from pressbox.soonish.manifest import APP as SOONISH

if TYPE_CHECKING:
    from pressbox.core.config import Groups, Settings

APPLICATIONS: tuple[AppManifest, ...] = (FOOTY, SOONISH, CURATOR, INBOX, DIGEST, DELIVERY, MATCHDAY, MAINTENANCE)


def manifests(settings: Settings) -> tuple[AppManifest, ...]:
    """All applications; the demo world's own workflows only where they are asked for."""
    return (*APPLICATIONS, DEMO) if settings.demo else APPLICATIONS


def settings_groups() -> Groups:
    return {manifest.name: manifest.settings() for manifest in APPLICATIONS if manifest.settings is not None}
