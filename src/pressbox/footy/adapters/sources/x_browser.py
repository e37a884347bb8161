"""X through the browser search service: the client of `pressbox x serve`."""

from collections.abc import Sequence
from http import HTTPStatus

import httpx
from pydantic import ValidationError

from pressbox.core.http.client import GuardedClient
from pressbox.core.http.pauses import pause
from pressbox.footy.adapters.sources.client import DEFAULT_PAUSE, utc_now
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import SourceBusyError, SourceError, SourceLoginError, SourceRefusedError
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.settings import FootySettings
from pressbox.footy.x.contracts import FoundOnX, SearchQuery, SearchResponse, SearchStatus

NAME = "x-browser"
# A browser has to load a page and scroll. The search of all sources waits 45 seconds for each.
TIMEOUT_SECONDS = 42.0


class XBrowserSource:
    """The service belongs to the administrator and often runs on this machine, so the guarded client is not used."""

    def __init__(self, base_url: str, token: str) -> None:
        self._client = httpx.AsyncClient(
            base_url=base_url.rstrip("/"),
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
        )

    @property
    def name(self) -> str:
        return NAME

    async def close(self) -> None:
        await self._client.aclose()

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]:
        question = SearchQuery(
            search_query=request.query,
            max_results=request.max_results,
            exclude_urls=tuple(sorted(request.exclude_urls)),
            max_age_minutes=request.max_age.total_seconds() / 60,
        )
        try:
            answer = await self._client.post("/search", json=question.model_dump(mode="json"))
        except httpx.TimeoutException as error:
            raise SourceError(f"{NAME}: the search service did not answer within {TIMEOUT_SECONDS:g} s.") from error
        except httpx.HTTPError as error:
            raise SourceError(
                f"{NAME}: the search service cannot be reached. Is `pressbox x serve` running?"
            ) from error
        return tuple(map(_found_video, _parse(answer).videos))


def is_configured(settings: FootySettings) -> bool:
    return settings.x_browser_url is not None and settings.x_browser_token is not None


def from_settings(settings: FootySettings, http: GuardedClient) -> XBrowserSource | None:
    if settings.x_browser_url is None or settings.x_browser_token is None:
        return None
    return XBrowserSource(settings.x_browser_url, settings.x_browser_token.get_secret_value())


def _parse(answer: httpx.Response) -> SearchResponse:
    status = answer.status_code
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise SourceLoginError(f"{NAME}: the search service rejects our token; it must be the same on both sides.")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = pause(answer.headers, utc_now()) or DEFAULT_PAUSE
        seconds = max(1, round(wait.total_seconds()))
        raise SourceBusyError(
            f"{NAME}: the searches of this account are used up for now; the next one is possible in {seconds} s.",
            retry_after=wait,
        )
    try:
        parsed = SearchResponse.model_validate_json(answer.content)
    except ValidationError as error:
        raise SourceError(f"{NAME}: the search service answered {status} in an unknown form.") from error
    if parsed.status is SearchStatus.AUTHENTICATION_REQUIRED:
        raise SourceLoginError(f"{NAME}: login expired. Run `pressbox x login` where the service runs.")
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        raise SourceRefusedError(f"{NAME}: {parsed.message or 'the request was rejected'}")
    if parsed.status is not SearchStatus.SUCCESS or status != HTTPStatus.OK:
        raise SourceError(f"{NAME}: {parsed.message or f'the search service answered {status}'}")
    return parsed


def _found_video(video: FoundOnX) -> FoundVideo:
    return FoundVideo(
        source=NAME,
        video_page_url=video.video_page_url,
        post_url=video.tweet_url,
        post_text=video.tweet_text,
        duration_seconds=video.duration_seconds,
        posted_at=video.posted_at,
    )
