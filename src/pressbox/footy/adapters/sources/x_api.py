"""The recent search of X's official API, with a bearer token.

Uses `GET /2/tweets/search/recent` of X API v2 with the expansion `attachments.media_keys`. Every post of a
page is billed, so each page is paid for at the till.
"""

import hashlib
from collections.abc import Sequence
from urllib.parse import urlencode

import httpx
from pydantic import AwareDatetime, Field

from pressbox.core.errors import PressboxError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.spending.billing import may_be_billed, was_sent
from pressbox.core.spending.domain import Order, PaidAnswer, PaidCall
from pressbox.core.spending.till import Till, UnbilledError
from pressbox.footy.adapters.sources.billing import SMALLEST_PAGE, X_API
from pressbox.footy.adapters.sources.client import (
    LOGIN_PAUSE,
    LONGEST_PAUSE,
    Clock,
    SourceClient,
    SourceModel,
    utc_now,
)
from pressbox.footy.adapters.sources.refusals import read_reason
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import SourceError, SourceLoginError, SourceRefusedError
from pressbox.footy.domain.names import LONGEST_QUERY
from pressbox.footy.domain.posts import post_key
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.settings import FootySettings

NAME = X_API
# What the page of costs calls it, and the version of what is asked.
FEATURE, VERSION = "clip-search", "1"
NO_CREDITS = "the account at X has no credits left (402). Buy some at developer.x.com, or take the token out."
CAP_REACHED = "the posts that the account at X may read in a month are used up. They begin anew next month."
NO_ACCESS = "the token belongs to an app without access to the search; attach it to a project at developer.x.com."
_CAPPED, _NOT_ENROLLED = "usage-capped", "client-not-enrolled"
_ONLY_VIDEOS = " has:videos -is:retweet"
LARGEST_PAGE = 100
_MOST_PAGES = 3


class Attachments(SourceModel):
    media_keys: tuple[str, ...] = ()


class Post(SourceModel):
    id: str
    text: str = ""
    created_at: AwareDatetime | None = None
    attachments: Attachments = Attachments()


class Variant(SourceModel):
    url: str
    content_type: str = ""
    bit_rate: int = 0


class Media(SourceModel):
    media_key: str
    type: str
    duration_ms: int | None = None
    variants: tuple[Variant, ...] = ()

    @property
    def best_file(self) -> str | None:
        files = [variant for variant in self.variants if variant.content_type == "video/mp4"]
        return max(files, key=lambda variant: variant.bit_rate).url if files else None


class Includes(SourceModel):
    media: tuple[Media, ...] = ()


class Meta(SourceModel):
    result_count: int
    next_token: str | None = None


class Problem(SourceModel):
    title: str = ""
    detail: str = ""
    message: str = ""

    @property
    def words(self) -> str:
        return (self.detail or self.message or self.title)[:200]


class Page(SourceModel):
    """`data` is there only when something was found; `errors` may stand beside it, or instead of everything."""

    meta: Meta | None = None
    data: tuple[object, ...] = ()
    includes: Includes = Field(default_factory=Includes)
    errors: tuple[Problem, ...] = ()


class XApiSource:
    def __init__(
        self,
        http: GuardedClient,
        token: str,
        base_url: str,
        till: Till,
        *,
        price_per_post: float = 0.0,
        posts_per_month: int | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._client = SourceClient(NAME, http, clock)
        self._till = till
        self._price = price_per_post
        self._posts_per_month = posts_per_month
        self._headers = {"Authorization": f"Bearer {token}"}
        self._url = f"{base_url.rstrip('/')}/2/tweets/search/recent"

    @property
    def name(self) -> str:
        return NAME

    @property
    def clock_ahead_seconds(self) -> float | None:
        return self._client.clock_ahead_seconds

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]:
        found: list[FoundVideo] = []
        token: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._buy_page(self._search_url(request, token), _page_size(request))
            found += self._videos(page, request)
            token = page.meta.next_token if page.meta else None
            if token is None or len(found) >= request.max_results:
                break
        return tuple(found[: request.max_results])

    async def _buy_page(self, url: str, most_posts: int) -> Page:
        self._client.check_pause()
        pages: list[Page] = []

        async def send() -> PaidAnswer:
            page = await self._load_page(url)
            pages.append(page)
            posts = len(page.data)
            return PaidAnswer("", posts=posts, cost=posts * self._price)

        call = PaidCall(hashlib.sha256(url.encode()).hexdigest(), VERSION, NAME, FEATURE)
        cost, month = most_posts * self._price, self._posts_per_month
        await self._till.pay(Order(call, posts=most_posts, cost=cost, posts_per_month=month), send)
        return pages[0]

    async def _load_page(self, url: str) -> Page:
        try:
            response = await self._client.request(url, headers=self._headers)
        except PressboxError as error:
            if was_sent(error):
                raise
            raise UnbilledError(error, sent=False) from error
        try:
            self._check_account(response)
            self._client.check_status(response)
        except PressboxError as error:
            if may_be_billed(response.status):
                raise
            raise UnbilledError(error) from error
        return self._check_page(self._client.parse(response, Page))

    def _check_account(self, response: Response) -> None:
        """Refusals that no waiting mends within the hour, whatever the headers say."""
        if response.status == httpx.codes.PAYMENT_REQUIRED:
            raise self._client.hold(SourceRefusedError(f"{NAME}: {NO_CREDITS}"), LONGEST_PAUSE)
        reason = read_reason(response)
        if response.status == httpx.codes.TOO_MANY_REQUESTS and reason.code.endswith(_CAPPED):
            raise self._client.hold(SourceRefusedError(f"{NAME}: {CAP_REACHED}"), LONGEST_PAUSE)
        if response.status == httpx.codes.FORBIDDEN and reason.code == _NOT_ENROLLED:
            raise self._client.hold(SourceLoginError(f"{NAME}: {NO_ACCESS}"), LOGIN_PAUSE)

    def _check_page(self, page: Page) -> Page:
        """An answer without posts means "nothing found" only when it says so."""
        if page.meta is None:
            if page.errors:
                raise SourceRefusedError(f"{NAME}: rejected the search ({page.errors[0].words}).")
            raise SourceError(f"{NAME}: the answer has an unknown form.")
        if page.meta.result_count and not page.data:
            raise SourceError(f"{NAME}: the answer announces posts and holds none.")
        return page

    def _search_url(self, request: SearchRequest, token: str | None) -> str:
        since = self._client.now() - request.max_age
        parameters = {
            "query": request.query[: LONGEST_QUERY - len(_ONLY_VIDEOS)] + _ONLY_VIDEOS,
            "max_results": str(_page_size(request)),
            "start_time": since.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "sort_order": "recency",
            "expansions": "attachments.media_keys",
            "tweet.fields": "created_at,attachments",
            "media.fields": "type,duration_ms,variants",
        }
        return f"{self._url}?{urlencode(parameters | ({'next_token': token} if token else {}))}"

    def _videos(self, page: Page, request: SearchRequest) -> list[FoundVideo]:
        media = {item.media_key: item for item in page.includes.media if item.type == "video"}
        known, videos = {post_key(url) for url in request.exclude_urls}, []
        for post in self._client.parse_each(page.data, Post):
            keys = [key for key in post.attachments.media_keys if key in media]
            for number, key in enumerate(keys, start=1):
                video = _found_video(post, media[key], number)
                if post_key(video.video_page_url) not in known:
                    videos.append(video)
        return videos


def is_configured(settings: FootySettings) -> bool:
    return settings.x_api_token is not None


def from_settings(settings: FootySettings, http: GuardedClient, till: Till) -> XApiSource | None:
    token = settings.x_api_token
    if token is None:
        return None
    return XApiSource(
        http,
        token.get_secret_value(),
        settings.x_api_url,
        till,
        price_per_post=settings.x_api_price_per_post,
        posts_per_month=settings.x_api_posts_per_month,
    )


def _page_size(request: SearchRequest) -> int:
    return min(max(request.max_results, SMALLEST_PAGE), LARGEST_PAGE)


def _found_video(post: Post, media: Media, number: int) -> FoundVideo:
    post_url = f"https://x.com/i/status/{post.id}"
    return FoundVideo(
        source=NAME,
        video_page_url=f"{post_url}/video/{number}",
        post_url=post_url,
        post_text=post.text,
        media_url=media.best_file,
        duration_seconds=None if media.duration_ms is None else media.duration_ms / 1000,
        posted_at=post.created_at,
    )
