"""The answers of X, Reddit and a file index about the same posts, as documented."""

from collections.abc import Callable, Sequence
from datetime import UTC
from html import escape
from http import HTTPStatus

from pressbox.demo.simulators.http_service import Answer, Request
from pressbox.demo.simulators.social_posts import SocialPost
from pressbox.demo.simulators.social_refusals import reddit_window
from pressbox.demo.simulators.social_times import parse_time, stamp

MediaUrl = Callable[[SocialPost], str]
SMALLEST_PAGE = 10
# The form of the access tokens of the simulated services.
X_COOKIE = "auth_token"
REDDIT_TOKEN = "token-of-the-simulated-reddit"  # noqa: S105 - a made-up value of a simulator


def x_api(request: Request, posts: Sequence[SocialPost], media_url: MediaUrl, expired: bool) -> Answer:
    if expired or not request.headers.get("authorization", "").startswith("Bearer "):
        problem = {"title": "Unauthorized", "type": "about:blank", "status": 401, "detail": "Unauthorized"}
        return Answer.of(problem, HTTPStatus.UNAUTHORIZED)
    since = parse_time(request.first("start_time"))
    shown = [post for post in posts if since is None or post.posted_at >= since]
    start = int(request.first("next_token") or 0)
    size = int(request.first("max_results") or SMALLEST_PAGE)
    if not SMALLEST_PAGE <= size <= 100:
        return Answer.of({"title": "Invalid Request", "errors": [{"message": "max_results"}]}, HTTPStatus.BAD_REQUEST)
    page = shown[start : start + size]
    meta: dict[str, object] = {"result_count": len(page)}
    if start + size < len(shown):
        meta["next_token"] = str(start + size)
    if not page:
        return Answer.of({"meta": meta})
    return Answer.of(
        {
            "data": [_tweet(post) for post in page],
            "includes": {"media": [_x_media(post, media_url(post)) for post in page]},
            "meta": meta,
        }
    )


def _tweet(post: SocialPost) -> dict[str, object]:
    return {
        "id": post.id,
        "text": post.text,
        "created_at": stamp(post.posted_at),
        "attachments": {"media_keys": [f"7_{post.id}"]},
        "edit_history_tweet_ids": [post.id],
    }


def _x_media(post: SocialPost, url: str) -> dict[str, object]:
    return {
        "media_key": f"7_{post.id}",
        "type": "video",
        "duration_ms": round(post.duration_seconds * 1000),
        "variants": [
            {"content_type": "application/x-mpegURL", "url": f"{url}.m3u8"},
            {"bit_rate": 256000, "content_type": "video/mp4", "url": f"{url}?size=small"},
            {"bit_rate": 2176000, "content_type": "video/mp4", "url": url},
        ],
    }


def playlist(request: Request, site: str) -> Answer:
    """A playlist with the whole clip as its only segment."""
    post_id = request.path.split("/")[2]
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:60", "#EXTINF:60.0,"]
    text = "\n".join([*lines, f"{site}/media/{post_id}.mp4", "#EXT-X-ENDLIST", ""])
    return Answer(200, text.encode(), {"Content-Type": "application/vnd.apple.mpegurl"})


def reddit(request: Request, posts: Sequence[SocialPost], media_url: MediaUrl, expired: bool) -> Answer:
    if request.path.endswith("/api/v1/access_token"):
        if expired:
            # Some refusals of a login come with status 200.
            return Answer.of({"error": "unauthorized_client", "error_description": "The application was removed"})
        if not request.headers.get("authorization", "").startswith("Basic "):
            return Answer.of({"message": "Unauthorized", "error": 401}, HTTPStatus.UNAUTHORIZED)
        return Answer.of({"access_token": REDDIT_TOKEN, "token_type": "bearer", "expires_in": 86400, "scope": "*"})
    if expired:
        words = {"www-authenticate": 'Bearer realm="reddit", error="invalid_token"', "Content-Type": "application/json"}
        return Answer(HTTPStatus.UNAUTHORIZED, b'{"error": 401}', words)
    subreddit = request.path.split("/r/")[-1].partition("/")[0]
    newest = sorted((post for post in posts if post.subreddit == subreddit), key=lambda post: post.posted_at)[::-1]
    children = [{"kind": "t3", "data": _submission(post, media_url(post))} for post in newest[:100]]
    listing = {"modhash": "", "dist": len(children), "children": children, "after": None, "before": None}
    answer = Answer.of({"kind": "Listing", "data": listing})
    return Answer(answer.status, answer.body, {**answer.headers, **reddit_window()})


def _submission(post: SocialPost, url: str) -> dict[str, object]:
    # The clips of the demo have no sound, and the post says so.
    video = {
        "fallback_url": url,
        "dash_url": f"https://v.redd.it/{post.id}/DASHPlaylist.mpd",
        "duration": round(post.duration_seconds),
        "has_audio": False,
        "is_gif": False,
        "transcoding_status": "completed",
    }
    return {
        "id": post.id,
        "title": post.text,
        "permalink": f"/r/{post.subreddit}/comments/{post.id}/",
        "url": f"https://v.redd.it/{post.id}",
        "created_utc": post.posted_at.timestamp(),
        "is_video": True,
        "post_hint": "hosted:video",
        "secure_media": {"reddit_video": video},
    }


def x_page(request: Request, posts: Sequence[SocialPost], expired: bool) -> Answer:
    """The search page of X for a browser: only the attributes by which its parts are found."""
    if request.path.endswith("/i/flow/login"):
        form = _page('<form><input autocomplete="username"></form>')
        # Everybody who opens this page counts as signed in.
        cookie = {} if expired else {"Set-Cookie": f"{X_COOKIE}=of-the-simulated-x; Path=/; HttpOnly"}
        return Answer(form.status, form.body, {**form.headers, **cookie})
    if expired or f"{X_COOKIE}=" not in request.headers.get("cookie", ""):
        return Answer(HTTPStatus.FOUND, b"", {"Location": "/x/i/flow/login"})
    articles = "".join(_article(post) for post in posts) or '<div data-testid="emptyState">No results</div>'
    return _page(f'<main data-testid="primaryColumn">{articles}</main>')


def _article(post: SocialPost) -> str:
    minutes, seconds = divmod(round(post.duration_seconds), 60)
    return (
        f'<article data-testid="tweet"><a href="/{escape(post.author)}/status/{post.id}">'
        f'<time datetime="{stamp(post.posted_at)}">now</time></a>'
        f'<div data-testid="tweetText"><span>{escape(post.text)}</span></div>'
        f'<div data-testid="videoPlayer"><span>{minutes}:{seconds:02d}</span></div></article>'
    )


def _page(body: str) -> Answer:
    text = f"<!DOCTYPE html><html><head><title>Search / X</title></head><body>{body}</body></html>"
    return Answer(200, text.encode(), {"Content-Type": "text/html; charset=utf-8"})


def index_entries(post: SocialPost) -> list[dict[str, object]]:
    """The entries of a post, as nginx lists a folder in JSON."""
    changed = post.posted_at.astimezone(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    return [
        {"name": f"{post.id}.mp4", "type": "file", "mtime": changed},
        {"name": f"{post.id}.mp4.json", "type": "file", "mtime": changed},
    ]


def side_car(post: SocialPost) -> dict[str, object]:
    return {
        "text": post.text,
        "posted_at": post.posted_at.isoformat(),
        "duration_seconds": post.duration_seconds,
        "post_url": f"https://example.org/{post.author}/{post.id}",
    }
