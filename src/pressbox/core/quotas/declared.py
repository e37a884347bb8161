"""The quotas of the core that no table counts, and those of all applications together."""

from collections.abc import Sequence

from pressbox.core.accounts.tokens import TOKENS
from pressbox.core.app import AppManifest
from pressbox.core.quotas.quota import MINUTE, Quota

# Both are kept in the memory of a web process.
STREAMS = Quota("streams", "Live pages open at once", 30, in_memory=True)
REQUESTS = Quota("requests", "Requests", 3000, window=MINUTE, in_memory=True)


def declared_quotas(manifests: Sequence[AppManifest]) -> tuple[Quota, ...]:
    """In the order in which people see them."""
    return (*(quota for manifest in manifests for quota in manifest.quotas()), TOKENS, STREAMS, REQUESTS)
