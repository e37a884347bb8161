"""Seals everything that any part of Pressbox sealed with the present instance key."""

from collections.abc import Mapping

from pressbox.core.accounts.factors import SecondFactors
from pressbox.core.app import Resources
from pressbox.core.stored_settings.store import StoredSettings
from pressbox.entry.manifests import manifests


async def seal_again(resources: Resources) -> Mapping[str, int]:
    """Return how much was sealed, by part. What an unknown key sealed stops it with a message; run it again then."""
    done = {"Second factors": await SecondFactors(resources.database, resources.settings).seal_again()}
    done["Settings"] = await StoredSettings(resources.database, resources.settings).seal_again()
    for manifest in manifests(resources.settings):
        if manifest.seal_again is not None:
            done[manifest.title] = await manifest.seal_again(resources)
    return done
