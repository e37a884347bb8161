"""Which clip sources an installation has, from its settings."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from pressbox.core.errors import ConfigurationError
from pressbox.core.http.client import GuardedClient
from pressbox.footy.adapters.sources import bluesky, folder, reddit, x_api, x_browser
from pressbox.footy.ports.outside import ClipSource
from pressbox.footy.settings import FootySettings

SETTING = "PRESSBOX_FOOTY_SOURCES"


def configured_sources(settings: FootySettings, http: GuardedClient) -> tuple[ClipSource, ...]:
    """Those that the settings name, or all that they say enough about. A named one that lacks something is an error."""
    makers: dict[str, Callable[[FootySettings, GuardedClient], ClipSource | None]] = {
        x_browser.NAME: _x_browser,
        x_api.NAME: _x_api,
        bluesky.NAME: _bluesky,
        reddit.NAME: _reddit,
        folder.NAME: _folder,
    }
    if not settings.sources:
        # Bluesky needs nothing, so it is searched only where somebody asked for it.
        wanted = [name for name in makers if name != bluesky.NAME or settings.bluesky_handle]
        return tuple(source for name in wanted if (source := makers[name](settings, http)) is not None)
    return tuple(_named(name, makers.get(name), settings, http) for name in dict.fromkeys(settings.sources))


def archive_folder(settings: FootySettings) -> Path | None:
    """The directory from which files may be copied, if the folder source is one."""
    place = settings.folder
    return Path(place) if place and urlsplit(place).scheme not in ("http", "https") else None


def _named(
    name: str,
    make: Callable[[FootySettings, GuardedClient], ClipSource | None] | None,
    settings: FootySettings,
    http: GuardedClient,
) -> ClipSource:
    if make is None:
        raise ConfigurationError(f"{SETTING}: there is no clip source called “{name}”.")
    source = make(settings, http)
    if source is None:
        raise ConfigurationError(f"{SETTING} names {name}, but its settings are missing; see docs/settings.md.")
    return source


def _x_browser(settings: FootySettings, http: GuardedClient) -> ClipSource | None:
    if settings.x_browser_url is None or settings.x_browser_token is None:
        return None
    return x_browser.XBrowserSource(settings.x_browser_url, settings.x_browser_token.get_secret_value())


def _x_api(settings: FootySettings, http: GuardedClient) -> ClipSource | None:
    if settings.x_api_token is None:
        return None
    return x_api.XApiSource(http, settings.x_api_token.get_secret_value(), settings.x_api_url)


def _bluesky(settings: FootySettings, http: GuardedClient) -> ClipSource | None:
    login = None
    if settings.bluesky_handle and settings.bluesky_app_password:
        password = settings.bluesky_app_password.get_secret_value()
        login = bluesky.BlueskyLogin(settings.bluesky_login_url, settings.bluesky_handle, password)
    return bluesky.BlueskySource(http, settings.bluesky_url, login)


def _reddit(settings: FootySettings, http: GuardedClient) -> ClipSource | None:
    if not settings.reddit_subreddits:
        return None
    login = None
    if settings.reddit_client_id and settings.reddit_client_secret:
        login = reddit.RedditLogin(settings.reddit_client_id, settings.reddit_client_secret.get_secret_value())
    fresh_for = reddit.FRESH_FOR / settings.speed
    return reddit.RedditSource(http, settings.reddit_subreddits, login, settings.reddit_url, fresh_for=fresh_for)


def _folder(settings: FootySettings, http: GuardedClient) -> ClipSource | None:
    return folder.folder_source(settings.folder, http) if settings.folder else None
