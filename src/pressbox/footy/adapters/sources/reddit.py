"""The newest posts of the configured subreddits, with or without the credentials of an application.

Uses Reddit's listings (`/r/{subreddit}/new`) and the application-only grant of OAuth 2. Most posts are links to hosts
of short clips.
"""

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import unescape
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, Field

from pressbox.core.errors import PressboxError
from pressbox.core.http.client import GuardedClient
from pressbox.footy.adapters.sources.client import LOGIN_PAUSE, Clock, SourceClient, SourceModel, utc_now
from pressbox.footy.adapters.sources.selection import select_matching
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import SourceBlockedError, SourceError, SourceLoginError, SourceRefusedError
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.settings import FootySettings

NAME = "reddit"
PUBLIC_URL = "https://www.reddit.com"
OAUTH_URL = "https://oauth.reddit.com"
# Without credentials ten requests a minute are allowed.
FRESH_FOR = timedelta(seconds=10)
_QUERY = "limit=100&raw_json=1"
# Why a single subreddit is not shown.
_CLOSED = frozenset({"private", "quarantined", "banned", "gated", "gold_only"})
_LONGEST_TOKEN = 86_400 * 30
# A token is renewed this long before it expires.
_RENEW_BEFORE = timedelta(minutes=1)
_VIDEO_HINTS = frozenset({"hosted:video", "rich:video"})
_CLIP_HOSTS = (
    "streamable.com",
    "streamff",
    "streamin.",
    "streamja.com",
    "streamgg.com",
    "dubz.",
    "v.redd.it",
    "clippituser.tv",
)


def _clean_address(text: str) -> str:
    """Reddit escapes addresses as in HTML, unless it is asked not to. One that is none raises ValueError."""
    return urlsplit(unescape(text)).geturl()


Address = Annotated[str, AfterValidator(_clean_address)]


class Token(SourceModel):
    """Some refusals of a login come with status 200 and an `error` instead of a token."""

    access_token: str = ""
    expires_in: float = 3600
    error: str | int | None = None
    error_description: str = ""


class RedditVideo(SourceModel):
    """`fallback_url` is the picture without sound; the playlist names both. Old posts do not say `has_audio`."""

    fallback_url: Address
    dash_url: Address | None = None
    duration: float | None = None
    has_audio: bool | None = None
    transcoding_status: str = "completed"

    @property
    def media_url(self) -> str:
        return self.fallback_url if self.has_audio is False or not self.dash_url else self.dash_url


class RedditMedia(SourceModel):
    reddit_video: RedditVideo | None = None


class Preview(SourceModel):
    reddit_video_preview: RedditVideo | None = None


class Media(SourceModel):
    """The places in which a post holds its video. That of a crosspost lies in the post it shares."""

    secure_media: RedditMedia | None = None
    media: RedditMedia | None = None
    preview: Preview | None = None
    crosspost_parent_list: tuple["Media", ...] = ()

    @property
    def video(self) -> RedditVideo | None:
        own = (
            self.secure_media and self.secure_media.reddit_video,
            self.media and self.media.reddit_video,
            *(parent.video for parent in self.crosspost_parent_list),
            self.preview and self.preview.reddit_video_preview,
        )
        return next((video for video in own if video), None)


class Post(Media):
    title: str
    permalink: str
    url: Address = ""
    created_utc: float
    post_hint: str = ""

    @property
    def has_video(self) -> bool:
        """A video that Reddit still works on has no file yet; a later search finds it."""
        if self.video is not None:
            return self.video.transcoding_status == "completed"
        host = (urlsplit(self.url).hostname or "").lower()
        return self.post_hint in _VIDEO_HINTS or any(name in host for name in _CLIP_HOSTS)


class Child(SourceModel):
    data: Post


class Children(SourceModel):
    children: tuple[object, ...]


class Listing(SourceModel):
    kind: str = Field(pattern="^Listing$")
    data: Children


@dataclass(frozen=True, repr=False)
class RedditLogin:
    client_id: str
    client_secret: str


class RedditSource:
    """`base_url` replaces both of Reddit's addresses."""

    def __init__(
        self,
        http: GuardedClient,
        subreddits: Sequence[str],
        login: RedditLogin | None = None,
        base_url: str | None = None,
        clock: Clock = utc_now,
        fresh_for: timedelta = FRESH_FOR,
    ) -> None:
        self._client = SourceClient(NAME, http, clock)
        self._subreddits = tuple(subreddits)
        self._login = login
        self._public_url = (base_url or PUBLIC_URL).rstrip("/")
        self._oauth_url = (base_url or OAUTH_URL).rstrip("/")
        self._token: tuple[str, datetime] | None = None
        self._fresh_for = fresh_for
        self._lists: dict[str, tuple[datetime, list[FoundVideo]]] = {}
        self._asking = asyncio.Lock()
        self._signing_in = asyncio.Lock()

    @property
    def name(self) -> str:
        return NAME

    @property
    def clock_ahead_seconds(self) -> float | None:
        return self._client.clock_ahead_seconds

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]:
        """One subreddit that refuses does not hide the others, but then "nothing found" would not be true."""
        async with self._asking:
            headers = await self._authorize()
            lists = await asyncio.gather(
                *(self._load_shared(subreddit, headers) for subreddit in self._subreddits), return_exceptions=True
            )
        failures = [found for found in lists if isinstance(found, BaseException)]
        videos = [video for found in lists if not isinstance(found, BaseException) for video in found]
        chosen = select_matching(videos, request, self._client.now())
        if failures and not chosen:
            raise failures[0]
        return chosen

    async def _load_shared(self, subreddit: str, headers: dict[str, str]) -> list[FoundVideo]:
        """Share one list between the goals that are searched at the same time."""
        known = self._lists.get(subreddit)
        if known is None or known[0] + self._fresh_for <= self._client.now():
            known = (self._client.now(), await self._load_newest(subreddit, headers))
            self._lists[subreddit] = known
        return known[1]

    async def _load_newest(self, subreddit: str, headers: dict[str, str]) -> list[FoundVideo]:
        try:
            listing = await self._load_listing(subreddit, headers)
        except SourceLoginError as error:
            if not headers or not self._has_ended(error, headers):
                raise self._explain(subreddit, error, bool(headers)) from error
            # Tokens end early when somebody revokes them: try once more with a new one.
            try:
                listing = await self._load_listing(subreddit, await self._authorize())
            except SourceLoginError as again:
                raise self._explain(subreddit, again, True) from again
        posts = [child.data for child in self._client.parse_each(listing.data.children, Child)]
        return [_found_video(post) for post in posts if post.has_video]

    async def _load_listing(self, subreddit: str, headers: dict[str, str]) -> Listing:
        where = (
            f"{self._oauth_url}/r/{quote(subreddit)}/new"
            if headers
            else f"{self._public_url}/r/{quote(subreddit)}/new.json"
        )
        try:
            return await self._client.get(f"{where}?{_QUERY}", Listing, headers=headers)
        except SourceRefusedError as error:
            raise SourceRefusedError(f"{error.message} Is there still a subreddit r/{subreddit}?") from error

    def _has_ended(self, error: SourceLoginError, headers: dict[str, str]) -> bool:
        if isinstance(error, SourceBlockedError) or error.details.get("status") != HTTPStatus.UNAUTHORIZED:
            return False
        if self._token is not None and headers == _bearer(self._token[0]):
            self._token = None
        return True

    def _explain(self, subreddit: str, error: SourceLoginError, with_login: bool) -> SourceLoginError:
        reason = error.details.get("reason")
        if reason in _CLOSED:
            return SourceLoginError(f"{NAME}: r/{subreddit} is {reason}. Take it out of the subreddits.")
        if not with_login:
            return SourceLoginError(f"{NAME}: rejects requests without credentials; set a client id and secret.")
        return error

    async def _authorize(self) -> dict[str, str]:
        if self._login is None:
            return {}
        async with self._signing_in:
            if self._token is None or self._token[1] <= self._client.now():
                self._token = await self._sign_in(self._login)
            return _bearer(self._token[0])

    async def _sign_in(self, login: RedditLogin) -> tuple[str, datetime]:
        self._client.check_pause()
        basic = base64.b64encode(f"{login.client_id}:{login.client_secret}".encode()).decode()
        headers = {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"}
        url = f"{self._public_url}/api/v1/access_token"
        try:
            token = await self._client.post(url, b"grant_type=client_credentials", Token, headers=headers)
        except SourceBlockedError:
            raise
        except (SourceLoginError, SourceRefusedError) as error:
            raise self._refuse_login(str(error.details.get("reason") or "")) from error
        if token.error is not None:
            raise self._refuse_login(token.error_description or str(token.error))
        if not token.access_token:
            raise SourceError(f"{NAME}: the answer to the login has an unknown form.")
        lifetime = timedelta(seconds=min(max(token.expires_in, 0), _LONGEST_TOKEN))
        return token.access_token, self._client.now() + lifetime - _RENEW_BEFORE

    def _refuse_login(self, why: str) -> PressboxError:
        words = f" ({why[:100]})" if why else ""
        refused = SourceLoginError(f"{NAME}: login refused{words}. Check the client id and its secret.")
        return self._client.hold(refused, LOGIN_PAUSE)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def is_configured(settings: FootySettings) -> bool:
    return bool(settings.reddit_subreddits)


def from_settings(settings: FootySettings, http: GuardedClient) -> RedditSource | None:
    if not settings.reddit_subreddits:
        return None
    login = None
    if settings.reddit_client_id and settings.reddit_client_secret:
        login = RedditLogin(settings.reddit_client_id, settings.reddit_client_secret.get_secret_value())
    fresh_for = FRESH_FOR / settings.speed
    return RedditSource(http, settings.reddit_subreddits, login, settings.reddit_url, fresh_for=fresh_for)


def _found_video(post: Post) -> FoundVideo:
    post_url = f"{PUBLIC_URL}{post.permalink}"
    return FoundVideo(
        source=NAME,
        video_page_url=post.url or post_url,
        post_url=post_url,
        post_text=post.title,
        media_url=post.video.media_url if post.video else None,
        duration_seconds=post.video.duration if post.video else None,
        posted_at=datetime.fromtimestamp(post.created_utc, UTC),
    )
