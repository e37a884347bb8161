"""The newest posts of the configured subreddits, with or without the credentials of an application.

Uses Reddit's listings (`/r/{subreddit}/new`) and the application-only grant of OAuth 2. Most posts are links to hosts
of short clips.
"""

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlsplit

from pydantic import Field

from pressbox.core.http.client import GuardedClient
from pressbox.footy.adapters.sources.client import Clock, SourceClient, SourceModel, utc_now
from pressbox.footy.adapters.sources.selection import select_matching
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import SourceBlockedError, SourceLoginError
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.settings import FootySettings

NAME = "reddit"
PUBLIC_URL = "https://www.reddit.com"
OAUTH_URL = "https://oauth.reddit.com"
# Without credentials ten requests a minute are allowed.
FRESH_FOR = timedelta(seconds=10)
_QUERY = "limit=100&raw_json=1"
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


class Token(SourceModel):
    access_token: str
    expires_in: float


class RedditVideo(SourceModel):
    fallback_url: str
    duration: float | None = None


class RedditMedia(SourceModel):
    reddit_video: RedditVideo | None = None


class Post(SourceModel):
    title: str
    permalink: str
    url: str = ""
    created_utc: float
    post_hint: str = ""
    secure_media: RedditMedia | None = None

    @property
    def video(self) -> RedditVideo | None:
        return self.secure_media.reddit_video if self.secure_media else None

    @property
    def has_video(self) -> bool:
        host = (urlsplit(self.url).hostname or "").lower()
        return self.video is not None or self.post_hint in _VIDEO_HINTS or any(name in host for name in _CLIP_HOSTS)


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

    @property
    def name(self) -> str:
        return NAME

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]:
        async with self._asking:
            headers = await self._authorize()
            lists = await asyncio.gather(*(self._load_shared(subreddit, headers) for subreddit in self._subreddits))
        return select_matching([video for videos in lists for video in videos], request, self._client.now())

    async def _load_shared(self, subreddit: str, headers: dict[str, str]) -> list[FoundVideo]:
        """Share one list between the goals that are searched at the same time."""
        known = self._lists.get(subreddit)
        if known is None or known[0] + self._fresh_for <= self._client.now():
            known = (self._client.now(), await self._load_newest(subreddit, headers))
            self._lists[subreddit] = known
        return known[1]

    async def _load_newest(self, subreddit: str, headers: dict[str, str]) -> list[FoundVideo]:
        where = (
            f"{self._oauth_url}/r/{quote(subreddit)}/new"
            if headers
            else f"{self._public_url}/r/{quote(subreddit)}/new.json"
        )
        try:
            listing = await self._client.get(f"{where}?{_QUERY}", Listing, headers=headers)
        except SourceLoginError as error:
            self._token = None
            if headers and isinstance(error, SourceBlockedError):
                raise
            advice = "login expired" if headers else "rejects requests without credentials; set a client id and secret"
            raise SourceLoginError(f"{NAME}: {advice}.") from error
        posts = [child.data for child in self._client.parse_each(listing.data.children, Child)]
        return [_found_video(post) for post in posts if post.has_video]

    async def _authorize(self) -> dict[str, str]:
        if self._login is None:
            return {}
        if self._token is None or self._token[1] <= self._client.now():
            basic = base64.b64encode(f"{self._login.client_id}:{self._login.client_secret}".encode()).decode()
            headers = {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"}
            url = f"{self._public_url}/api/v1/access_token"
            try:
                token = await self._client.post(url, b"grant_type=client_credentials", Token, headers=headers)
            except SourceLoginError as error:
                raise SourceLoginError(f"{NAME}: login refused. Check the client id and its secret.") from error
            self._token = (token.access_token, self._client.now() + timedelta(seconds=token.expires_in) - _RENEW_BEFORE)
        return {"Authorization": f"Bearer {self._token[0]}"}


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
        media_url=post.video.fallback_url if post.video else None,
        duration_seconds=post.video.duration if post.video else None,
        posted_at=datetime.fromtimestamp(post.created_utc, UTC),
    )
