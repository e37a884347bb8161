"""What soonish says of itself on the status page and in `pressbox doctor`."""

from collections.abc import Sequence

from pressbox.core.config import Settings
from pressbox.core.health import HealthState, PartHealth
from pressbox.soonish.settings import SoonishSettings


def check_links(settings: Settings) -> Sequence[PartHealth]:
    """Mail without an address of ours carries links that work for nobody else; without mail nothing is to be said."""
    if not settings.group(SoonishSettings).smtp_host:
        return ()
    if settings.web.public_url is None:
        return (
            PartHealth(
                "events",
                HealthState.WARNING,
                "Links in mails lead to this machine only.",
                "Enter the address under which people reach Pressbox on the page Settings.",
            ),
        )
    return (PartHealth("events", HealthState.OK, f"Links in messages lead to {settings.web.public_url}."),)
