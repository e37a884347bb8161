"""Which clip sources there are, and which of them an installation has.

A new source is a module with `NAME`, `is_configured` and `from_settings`, and a line in `SOURCES`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pressbox.core.errors import ConfigurationError
from pressbox.core.http.client import GuardedClient
from pressbox.core.spending.till import Till
from pressbox.footy.adapters.sources import bluesky, folder, reddit, x_api, x_browser
from pressbox.footy.ports.outside import ClipSource
from pressbox.footy.settings import FootySettings

SETTING = "PRESSBOX_FOOTY_SOURCES"
FromSettings = Callable[[FootySettings, GuardedClient, Till], ClipSource | None]


@dataclass(frozen=True)
class SourceKind:
    """`is_configured` tells whether it is searched when no source is named; `from_settings` gives None if it cannot.

    The till is for sources that bill requests.
    """

    name: str
    is_configured: Callable[[FootySettings], bool]
    from_settings: FromSettings


def _free(make: Callable[[FootySettings, GuardedClient], ClipSource | None]) -> FromSettings:
    return lambda settings, http, _: make(settings, http)


SOURCES = (
    SourceKind(x_browser.NAME, x_browser.is_configured, _free(x_browser.from_settings)),
    SourceKind(x_api.NAME, x_api.is_configured, x_api.from_settings),
    SourceKind(bluesky.NAME, bluesky.is_configured, _free(bluesky.from_settings)),
    SourceKind(reddit.NAME, reddit.is_configured, _free(reddit.from_settings)),
    SourceKind(folder.NAME, folder.is_configured, _free(folder.from_settings)),
)


def has_source(settings: FootySettings) -> bool:
    return bool(wanted_sources(settings))


def configured_sources(settings: FootySettings, http: GuardedClient, till: Till) -> tuple[ClipSource, ...]:
    """Those that the settings name, or all that they configure. A named one that lacks something is an error."""
    kinds = {kind.name: kind for kind in SOURCES}
    return tuple(_make(name, kinds.get(name), settings, http, till) for name in wanted_sources(settings))


def wanted_sources(settings: FootySettings) -> list[str]:
    """The names of those that are searched."""
    if settings.sources:
        return list(dict.fromkeys(settings.sources))
    return [kind.name for kind in SOURCES if kind.is_configured(settings)]


def _make(name: str, kind: SourceKind | None, settings: FootySettings, http: GuardedClient, till: Till) -> ClipSource:
    if kind is None:
        raise ConfigurationError(f"{SETTING}: there is no clip source called “{name}”.")
    source = kind.from_settings(settings, http, till)
    if source is None:
        raise ConfigurationError(f"{SETTING} names {name}, but its settings are missing; see docs/settings.md.")
    return source
