"""The clip sources, as an administrator sets them up and tries them on pages."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import urlsplit

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError, InvalidInputError
from pressbox.core.health import HealthState, PartHealth
from pressbox.core.stored_settings.sections import SettingField, SettingsFile, SettingsSection, TestReport
from pressbox.footy.adapters.source_health import SqlSourceHealth
from pressbox.footy.adapters.sources import bluesky, reddit, x_api, x_browser
from pressbox.footy.adapters.sources.registry import wanted_sources
from pressbox.footy.service.trial import try_source
from pressbox.footy.settings import FootySettings
from pressbox.footy.web.health import load_login_part, load_month_part, source_part
from pressbox.footy.x.cookies import LARGEST_EXPORT, NO_COOKIE, NO_EXPORT, NO_JSON, NO_LOGIN, read_export
from pressbox.footy.x.session import is_logged_in, open_session

NO_ADDRESS = "Write it as https://example.org, without a path."
KEPT = "The login at X is kept, sealed. Delete the exported file: whoever has it is logged in."
WORKS = "It works: its search answered, with %(found)s posts."
WORDS = (KEPT, WORKS, NO_ADDRESS, NO_COOKIE, NO_LOGIN, NO_EXPORT, NO_JSON)


def _test(name: str) -> Callable[[Resources, str], Awaitable[TestReport]]:
    async def test(resources: Resources, _: str) -> TestReport:
        return TestReport(WORKS, {"found": await try_source(resources, name)})

    return test


def _health(name: str) -> Callable[[Resources], Awaitable[Sequence[PartHealth]]]:
    async def load(resources: Resources) -> Sequence[PartHealth]:
        return (await load_source_part(resources, name),)

    return load


async def load_source_part(resources: Resources, name: str) -> PartHealth:
    """How a source answered last, or why it is not searched at all."""
    footy = resources.settings.group(FootySettings)
    if name not in wanted_sources(footy):
        others = ", ".join(footy.sources)
        detail = f"Not searched: PRESSBOX_FOOTY_SOURCES names {others} only." if others else "Not searched: not set up."
        return PartHealth(f"clips: {name}", HealthState.OK, detail)
    known = {view.source: view for view in await SqlSourceHealth(resources.database).load_all()}
    if name not in known:
        return PartHealth(f"clips: {name}", HealthState.OK, "Not searched yet.")
    return source_part(known[name], utc_now())


async def load_x_parts(resources: Resources) -> Sequence[PartHealth]:
    return await load_source_part(resources, x_browser.NAME), await load_login_part(resources)


async def load_x_api_parts(resources: Resources) -> Sequence[PartHealth]:
    part, month = await load_source_part(resources, x_api.NAME), await load_month_part(resources)
    return (part, month) if month else (part,)


async def has_session(resources: Resources) -> bool:
    return is_logged_in(await asyncio.to_thread(open_session(resources.settings).load))


async def keep_session(resources: Resources, content: bytes) -> TestReport:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(NO_EXPORT, field="file") from error
    cookies = read_export(text, utc_now())
    await asyncio.to_thread(open_session(resources.settings).save, cookies)
    return TestReport(KEPT)


async def remove_session(resources: Resources) -> None:
    await asyncio.to_thread(open_session(resources.settings).remove)


async def is_session_kept(resources: Resources) -> bool:
    """Also one that cannot be read any more, so that it can be removed."""
    try:
        return await has_session(resources)
    except ConfigurationError:
        return True


def _check_addresses(settings: Settings) -> Mapping[str, str]:
    footy = settings.group(FootySettings)
    addresses = {"footy.bluesky_login_url": footy.bluesky_login_url, "footy.x_browser_url": footy.x_browser_url}
    return {name: NO_ADDRESS for name, address in addresses.items() if address and not _is_origin(address)}


def _is_origin(address: str) -> bool:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    plain = not (parts.query or parts.fragment or parts.username) and parts.path in ("", "/") and port != 0
    return parts.scheme in ("http", "https") and bool(parts.hostname) and plain


BLUESKY = SettingsSection(
    key="bluesky",
    title="Clips from Bluesky",
    summary="An account that searches Bluesky for clips of goals. Costs nothing.",
    fields=(
        SettingField("footy.bluesky_handle", "Handle", hint="Such as name.bsky.social."),
        SettingField(
            "footy.bluesky_app_password",
            "App password",
            hint="Made at bsky.app under Settings → Privacy and security → App passwords. Never the password itself.",
            kind="password",
            sent_to=("footy.bluesky_login_url", "footy.bluesky_handle"),
        ),
        SettingField(
            "footy.bluesky_login_url", "Server", hint="Only for an account on a server of its own.", kind="url"
        ),
    ),
    test=_test(bluesky.NAME),
    required=("footy.bluesky_handle", "footy.bluesky_app_password"),
    check=_check_addresses,
    health=_health(bluesky.NAME),
)
REDDIT = SettingsSection(
    key="reddit",
    title="Clips from Reddit",
    summary="The newest posts of some subreddits, read with an application that Reddit approved. Costs nothing.",
    fields=(
        SettingField("footy.reddit_subreddits", "Subreddits", hint="With commas between, such as soccer, bundesliga."),
        SettingField("footy.reddit_client_id", "Client id", hint="From reddit.com/prefs/apps, below the app's name."),
        SettingField(
            "footy.reddit_client_secret", "Client secret", kind="password", sent_to=("footy.reddit_client_id",)
        ),
    ),
    test=_test(reddit.NAME),
    required=("footy.reddit_subreddits",),
    health=_health(reddit.NAME),
)
X_SESSION = SettingsFile(
    label="Login at X",
    hint=(
        "Sign in at x.com, export its cookies with a browser extension as cookies.txt or JSON, and choose that file."
        " It is kept on this machine; where `pressbox x serve` runs on another, run `pressbox x import-cookies` there."
    ),
    accept=".txt,.json,text/plain,application/json",
    largest_bytes=LARGEST_EXPORT,
    keep=keep_session,
    is_kept=is_session_kept,
    remove=remove_session,
)
X_BROWSER = SettingsSection(
    key="x",
    title="Clips from X, by a browser",
    summary="A running `pressbox x serve` searches X with your login. Costs nothing; about 50 searches in 15 minutes.",
    fields=(
        SettingField("footy.x_browser_url", "Address", hint="Mostly http://127.0.0.1:8031.", kind="url"),
        SettingField(
            "footy.x_browser_token",
            "Token",
            hint="The one that `pressbox x serve` was started with.",
            kind="password",
            sent_to=("footy.x_browser_url",),
        ),
    ),
    test=_test(x_browser.NAME),
    required=("footy.x_browser_url", "footy.x_browser_token"),
    check=_check_addresses,
    file=X_SESSION,
    health=load_x_parts,
)
X_API = SettingsSection(
    key="x-api",
    title="Clips from X, by its paid API",
    summary="X bills every post that a search reads. A test reads up to ten.",
    fields=(
        SettingField("footy.x_api_token", "Bearer token", hint="From developer.x.com.", kind="password"),
        SettingField(
            "footy.x_api_posts_per_month",
            "Posts per month",
            hint="When they are used up, nothing is searched until the first of the next month, UTC.",
            kind="number",
        ),
        SettingField("footy.x_api_price_per_post", "Price per post", hint="For the page of costs, such as 0.005."),
    ),
    test=_test(x_api.NAME),
    required=("footy.x_api_token",),
    health=load_x_api_parts,
)
SOURCES = (BLUESKY, REDDIT, X_BROWSER, X_API)
