"""Bluesky with accounts, sessions and limits, in the words of its lexicons."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from json import JSONDecodeError, loads
from typing import Any

from pressbox.demo.simulators.http_service import Answer, Request
from pressbox.demo.simulators.social_posts import SocialPost, search_posts
from pressbox.demo.simulators.social_times import parse_time, stamp

WINDOW = timedelta(minutes=5)
REQUESTS_PER_WINDOW = 3000
WRONG_PASSWORD = "wrong"  # noqa: S105 - the one password that is not accepted


class BlueskyFace:
    """Sessions end with `expire`; `revoke` withdraws the app password. A refresh token works once."""

    def __init__(self) -> None:
        self.logins = 0
        self.refreshes = 0
        self._made = 0
        self._access: set[str] = set()
        self._refresh: set[str] = set()
        self._revoked = False

    def expire(self) -> None:
        """End the access tokens, as time does after two hours."""
        self._access.clear()

    def forget_refreshes(self) -> None:
        """End the refresh tokens too, as time does after months."""
        self._refresh.clear()

    def revoke(self) -> None:
        self._revoked = True
        self._access.clear()
        self._refresh.clear()

    def answer(self, request: Request, posts: Sequence[SocialPost], site: str, now: datetime) -> Answer:
        method = request.path.rpartition("/")[2]
        if method == "com.atproto.server.createSession":
            return _limited(self._sign_in(request), now)
        if method == "com.atproto.server.refreshSession":
            return _limited(self._renew(request), now)
        if method != "app.bsky.feed.searchPosts":
            return _problem(HTTPStatus.NOT_IMPLEMENTED, "MethodNotImplemented", "Method Not Implemented")
        token = _token(request)
        if token and token not in self._access:
            return _limited(_problem(HTTPStatus.BAD_REQUEST, "ExpiredToken", "Token has expired"), now)
        return _limited(_search(request, posts, site), now)

    def _sign_in(self, request: Request) -> Answer:
        self.logins += 1
        try:
            given = loads(request.body)
        except JSONDecodeError:
            return _problem(HTTPStatus.BAD_REQUEST, "InvalidRequest", "Input must be valid JSON")
        if self._revoked or given.get("password") == WRONG_PASSWORD:
            return _problem(HTTPStatus.UNAUTHORIZED, "AuthenticationRequired", "Invalid identifier or password")
        return self._open()

    def _renew(self, request: Request) -> Answer:
        self.refreshes += 1
        token = _token(request)
        if token not in self._refresh:
            return _problem(HTTPStatus.BAD_REQUEST, "ExpiredToken", "Token has been revoked")
        self._refresh.discard(token)
        return self._open()

    def _open(self) -> Answer:
        self._made += 1
        access, refresh = f"access-{self._made}", f"refresh-{self._made}"
        self._access.add(access)
        self._refresh.add(refresh)
        return Answer.of({"accessJwt": access, "refreshJwt": refresh, "handle": "a.example.org", "did": "did:plc:a"})


def bluesky_limit(now: datetime) -> Answer:
    problem = _problem(HTTPStatus.TOO_MANY_REQUESTS, "RateLimitExceeded", "Rate Limit Exceeded")
    return _limited(problem, now, left=0)


def _limited(answer: Answer, now: datetime, left: int = REQUESTS_PER_WINDOW - 1) -> Answer:
    headers = {
        "ratelimit-limit": str(REQUESTS_PER_WINDOW),
        "ratelimit-remaining": str(left),
        "ratelimit-reset": str(int((now + WINDOW).timestamp())),
        "ratelimit-policy": f"{REQUESTS_PER_WINDOW};w={WINDOW.seconds}",
    }
    return Answer(answer.status, answer.body, {**answer.headers, **headers})


def _search(request: Request, posts: Sequence[SocialPost], site: str) -> Answer:
    since = parse_time(request.first("since"))
    found = search_posts(posts, request.first("q") or "")
    shown = [post for post in found if since is None or post.posted_at >= since]
    return Answer.of({"posts": [_post_view(post, site) for post in shown], "hitsTotal": len(shown)})


def _post_view(post: SocialPost, site: str) -> Mapping[str, Any]:
    did = f"did:plc:{post.author}"
    return {
        "uri": f"at://{did}/app.bsky.feed.post/{post.id}",
        "cid": f"bafy{post.id}",
        "author": {"did": did, "handle": f"{post.author}.example.org"},
        "record": {"$type": "app.bsky.feed.post", "text": post.text, "createdAt": stamp(post.posted_at)},
        "embed": {
            "$type": "app.bsky.embed.video#view",
            "cid": f"bafv{post.id}",
            "playlist": f"{site}/hls/{post.id}/playlist.m3u8",
            "thumbnail": f"{site}/hls/{post.id}/thumbnail.jpg",
            "aspectRatio": {"width": 1280, "height": 720},
        },
        "replyCount": 0,
        "repostCount": 0,
        "likeCount": 0,
        "quoteCount": 0,
        "indexedAt": stamp(post.posted_at),
        "labels": [],
    }


def _token(request: Request) -> str:
    return request.headers.get("authorization", "").removeprefix("Bearer ").strip()


def _problem(status: HTTPStatus, error: str, message: str) -> Answer:
    return Answer.of({"error": error, "message": message}, status)
