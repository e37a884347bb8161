"""Reads the search page of X: its posts, and which of them match the request."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from pydantic import AwareDatetime, BaseModel, ConfigDict

from pressbox.footy.x.contracts import FoundOnX, SearchQuery

# Whichever of these appears first tells what kind of page it is.
POST = 'article[data-testid="tweet"]'
EMPTY = '[data-testid="emptyState"]'
LOGIN = 'input[autocomplete="username"], [data-testid="loginButton"], [data-testid="google_sign_in_container"]'
TROUBLE = '[data-testid="error-detail"]'
LOGIN_PATH = "/i/flow/login"
# Other pages on which X asks who is there, or for a captcha.
LOGIN_PATHS = re.compile(r"/(login|account/(access|login)|i/flow/(login|signup|single_sign_on)|i/jf/\w+|logout)\b")
PUBLIC_URL = "https://x.com"

READ_POSTS = """
() => [...document.querySelectorAll('article[data-testid="tweet"]')].map((post) => {
  const time = post.querySelector('time');
  const link = time && time.closest('a');
  const text = post.querySelector('[data-testid="tweetText"]');
  const video = post.querySelector('[data-testid="videoPlayer"], [data-testid="videoComponent"], video');
  return {
    href: link ? link.getAttribute('href') : '',
    posted_at: time ? time.getAttribute('datetime') : null,
    text: text ? text.innerText : '',
    has_video: video !== null,
    label: video ? video.innerText : '',
  };
})
"""
_STATUS = re.compile(r"^/([A-Za-z0-9_]{1,30})/status/(\d+)")
_DURATION = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})")
_STATUS_ID = re.compile(r"/status/(\d+)")


class SeenPost(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    href: str = ""
    posted_at: AwareDatetime | None = None
    text: str = ""
    has_video: bool = False
    label: str = ""


def select_posts(posts: Iterable[SeenPost], question: SearchQuery, now: datetime) -> Sequence[FoundOnX]:
    """Select recent posts with a video that are not known yet. Posts are compared by number, not by address."""
    known = {number[1] for url in question.exclude_urls if (number := _STATUS_ID.search(url))}
    oldest = now - timedelta(minutes=question.max_age_minutes)
    found: dict[str, FoundOnX] = {}
    for post in posts:
        parts = _STATUS.match(post.href)
        if parts is None or not post.has_video or parts[2] in known:
            continue
        if post.posted_at is not None and post.posted_at < oldest:
            continue
        found.setdefault(parts[2], _to_found(parts[1], parts[2], post))
    return tuple(found.values())[: question.max_results]


def _to_found(author: str, number: str, post: SeenPost) -> FoundOnX:
    url = f"{PUBLIC_URL}/{author}/status/{number}"
    return FoundOnX(
        video_page_url=f"{url}/video/1",
        tweet_url=url,
        tweet_text=post.text,
        duration_seconds=parse_duration(post.label),
        posted_at=post.posted_at,
    )


def parse_duration(label: str) -> float | None:
    """Parse the duration that is written on the picture of a video."""
    found = _DURATION.search(label)
    if found is None:
        return None
    return int(found[1] or 0) * 3600 + int(found[2]) * 60 + float(found[3])
