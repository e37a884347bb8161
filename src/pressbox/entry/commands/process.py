"""What every command does first."""

from pressbox.core.config import Settings, load_settings, unknown_variables
from pressbox.core.logs import configure_logs, get_logger
from pressbox.entry.manifests import settings_groups

log = get_logger(__name__)


def prepared_settings() -> Settings:
    """Read the settings, set up logs, and name variables that mean nothing."""
    settings = load_settings(groups=settings_groups())
    configure_logs(settings)
    for name in unknown_variables(groups=settings_groups()):
        log.warning("setting_unknown", msg=f"{name} is not a setting of Pressbox; see docs/settings.md", variable=name)
    return settings
