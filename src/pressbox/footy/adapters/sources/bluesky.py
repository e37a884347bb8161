"""Bluesky's post search, with or without an app password.

Uses the lexicons `app.bsky.feed.searchPosts` and `app.bsky.embed.video`. The search has no "or", so it is asked once
for every name, and posts without the team are filtered out here.
"""

from collections.abc import Sequence
from urllib.parse import urlencode

from pydantic import AwareDatetime, Field

from pressbox.core.http.client import GuardedClient
from pressbox.footy.adapters.sources.bluesky_session import BlueskyLogin, BlueskySession
from pressbox.footy.adapters.sources.client import Clock, SourceClient, SourceModel, utc_now
from pressbox.footy.adapters.sources.selection import select_matching
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import SourceLoginError
from pressbox.footy.domain.names import fold
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.settings import FootySettings

NAME = "bluesky"
_PAGE = "100"
_VIDEO = "app.bsky.embed.video#view"


class Author(SourceModel):
    did: str
    handle: str = ""


class Record(SourceModel):
    text: str = ""


class Embed(SourceModel):
    """A video, media beside a quoted post (`media`), or a quoted post that has a video itself (`record`)."""

    type: str = Field("", alias="$type")
    playlist: str | None = None
    media: "Embed | None" = None
    record: "Quoted | None" = None

    @property
    def video(self) -> "Embed | None":
        if self.type == _VIDEO and self.playlist:
            return self
        beside = self.media.video if self.media else None
        return beside or (self.record.video if self.record else None)


class Quoted(SourceModel):
    """A quoted post; beside media it lies one level deeper. One that is gone or hidden has no embeds."""

    embeds: tuple[Embed, ...] = ()
    record: "Quoted | None" = None

    @property
    def video(self) -> Embed | None:
        own = next((embed.video for embed in self.embeds if embed.video), None)
        return own or (self.record.video if self.record else None)


class Post(SourceModel):
    uri: str
    author: Author
    record: Record
    embed: Embed | None = None
    indexed_at: AwareDatetime | None = Field(None, alias="indexedAt")


class Page(SourceModel):
    posts: tuple[object, ...]


class BlueskySource:
    def __init__(
        self, http: GuardedClient, base_url: str, login: BlueskyLogin | None = None, clock: Clock = utc_now
    ) -> None:
        self._client = SourceClient(NAME, http, clock)
        self._session = BlueskySession(self._client, login) if login else None
        # With a session, requests go to the server of the account, which forwards them.
        self._base_url = (login.url if login else base_url).rstrip("/")

    @property
    def name(self) -> str:
        return NAME

    @property
    def clock_ahead_seconds(self) -> float | None:
        return self._client.clock_ahead_seconds

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]:
        found: list[FoundVideo] = []
        spellings = {fold(name).casefold(): name for name in reversed(request.player_names)}
        for name in spellings.values():
            page = await self._load_page(self._search_url(name, request))
            posts = self._client.parse_each(page.posts, Post)
            found += [video for video in map(_found_video, posts) if video is not None]
        return select_matching(found, request, self._client.now())

    def _search_url(self, name: str, request: SearchRequest) -> str:
        since = (self._client.now() - request.max_age).strftime("%Y-%m-%dT%H:%M:%SZ")
        parameters = {"q": name, "sort": "latest", "since": since, "limit": _PAGE}
        return f"{self._base_url}/xrpc/app.bsky.feed.searchPosts?{urlencode(parameters)}"

    async def _load_page(self, url: str) -> Page:
        if self._session is not None:
            return await self._session.call(lambda headers: self._client.get(url, Page, headers=headers))
        try:
            return await self._client.get(url, Page)
        except SourceLoginError as error:
            raise SourceLoginError(
                f"{NAME}: searches need an account at the moment. Set PRESSBOX_FOOTY_BLUESKY_HANDLE and"
                " PRESSBOX_FOOTY_BLUESKY_APP_PASSWORD, or both on the page Settings."
            ) from error


def is_configured(settings: FootySettings) -> bool:
    """It works without any settings, so it is searched only where somebody names it or gives it an account."""
    return bool(settings.bluesky_handle)


def from_settings(settings: FootySettings, http: GuardedClient) -> BlueskySource:
    login = None
    if settings.bluesky_handle and settings.bluesky_app_password:
        password = settings.bluesky_app_password.get_secret_value()
        login = BlueskyLogin(settings.bluesky_login_url, settings.bluesky_handle, password)
    return BlueskySource(http, settings.bluesky_url, login)


def _found_video(post: Post) -> FoundVideo | None:
    video = post.embed.video if post.embed else None
    if video is None:
        return None
    url = f"https://bsky.app/profile/{post.author.did}/post/{post.uri.rpartition('/')[2]}"
    return FoundVideo(
        source=NAME,
        video_page_url=url,
        post_url=url,
        post_text=post.record.text,
        media_url=video.playlist,
        posted_at=post.indexed_at,
    )
