"""The settings of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pressbox.core.config import Settings


def prepare_settings() -> Settings:
    """Read the settings, set up logs, and name variables that mean nothing."""
    from pressbox.core.environment import explain_unknown, load_settings, unknown_variables
    from pressbox.core.logs import configure_logs, get_logger
    from pressbox.entry.manifests import settings_groups

    groups = settings_groups()
    settings = load_settings(groups=groups)
    configure_logs(settings)
    log = get_logger(__name__)
    for name in unknown_variables(groups=groups):
        log.warning("setting_unknown", msg=explain_unknown(name), variable=name)
    return settings
