"""Settings that were set on pages, as every process gets them: at its start, and when somebody changes them."""

import asyncio

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger, redact, secret_values
from pressbox.core.stored_settings.overlay import overlay_what_fits
from pressbox.core.stored_settings.store import StoredSettings
from pressbox.entry.manifests import settings_groups

log = get_logger(__name__)

LOOK_EVERY_SECONDS = 2.0
LONGEST_LOOK_SECONDS = 5.0


async def add_stored_settings(settings: Settings, database: Database) -> Settings:
    """The settings with those of the pages, as far as they can be read now."""
    if not settings.secret_keys:
        # This process may not open what is sealed, and runs by its environment alone.
        return settings
    try:
        async with asyncio.timeout(LONGEST_LOOK_SECONDS):
            return await combine_settings(settings, database)
    except (TransientError, TimeoutError) as error:
        # The database is away or not migrated: whoever needs it will say so, and processes that stay look again.
        log.info("stored_settings_unknown", msg="Settings of the pages cannot be read yet", error=str(error))
        return settings


async def wait_for_change(resources: Resources, seconds: float = LOOK_EVERY_SECONDS) -> None:
    """Return when the settings of the pages are others than when these resources were opened."""
    while True:
        await asyncio.sleep(seconds)
        try:
            if await combine_settings(resources.environment, resources.database) != resources.settings:
                return
        except TransientError:
            continue


async def combine_settings(settings: Settings, database: Database) -> Settings:
    """The same, but a database that is away is a TransientError."""
    stored = await StoredSettings(database, settings).load()
    used, refused = overlay_what_fits(settings, settings_groups(), stored.values)
    if refused or stored.unreadable:
        names = ", ".join((*refused, *stored.unreadable))
        log.warning("stored_settings_unusable", msg=f"Set on a page, and not usable here: {names}", settings=names)
    redact.add(*secret_values(used))
    return used
