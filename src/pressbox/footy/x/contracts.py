"""Request and response of the browser search service for X, used on both sides."""

from enum import StrEnum

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field


class SearchStatus(StrEnum):
    SUCCESS = "success"
    AUTHENTICATION_REQUIRED = "authentication_required"
    BUSY = "busy"
    FAILED = "failed"


class SearchQuery(BaseModel):
    model_config = ConfigDict(frozen=True)

    search_query: str = Field(min_length=1, max_length=512)
    max_results: int = Field(5, ge=1, le=100)
    exclude_urls: tuple[str, ...] = ()
    max_age_minutes: float = Field(3.0, gt=0, le=10_080)


class FoundOnX(BaseModel):
    model_config = ConfigDict(frozen=True)

    video_page_url: str
    tweet_url: str
    tweet_text: str = ""
    duration_seconds: float | None = None
    posted_at: AwareDatetime | None = None


class SearchResponse(BaseModel):
    """`message` says what is wrong, for people; empty on success."""

    model_config = ConfigDict(frozen=True)

    status: SearchStatus
    videos: tuple[FoundOnX, ...] = ()
    message: str = ""
    # With BUSY: when to come back.
    retry_after_seconds: float | None = None
