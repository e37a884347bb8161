"""One social site that looks like all clip sources: X (API and page), Bluesky, Reddit and a folder with an index.

Its posts come from the script of the demo or from a test, with `post`; its answers follow the public documentation of
each service. Each face can be slow, busy, failing or silent (`tell("x-api", Kind.BUSY)`), and wrong in its own ways
(`set_mood("reddit", Mood.HTML)`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote

from pressbox.core.contracts import Contract
from pressbox.demo.simulators import social_faces, social_refusals
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.social_bluesky import BlueskyFace
from pressbox.demo.simulators.social_posts import SocialPost, search_posts

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_HTML = b"<!DOCTYPE html><html><head><title>Just a moment</title></head><body>Checking your browser</body></html>"


class Mood(StrEnum):
    """GOOD: as documented. EXPIRED: the login is no longer valid. HTML: a page instead of data. TRUNCATED: the answer
    breaks off. EMPTY: nothing found. STRANGE: well-formed, but not as documented. LIMITED: too many requests, with the
    headers of the service. CAPPED and UNPAID: X's month or credits are used up. BLOCKED: a page with 403. DOWN: a
    gateway without a word.
    """

    GOOD = "good"
    EXPIRED = "expired"
    HTML = "html"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    STRANGE = "strange"
    LIMITED = "limited"
    CAPPED = "capped"
    UNPAID = "unpaid"
    BLOCKED = "blocked"
    DOWN = "down"


class ReceivedRequest(Contract):
    """A request that the site received."""

    face: str
    path: str
    authorization: str = ""


class SocialSite(HttpService):
    """Posts are visible from `posted_at` on. The key of behaviours is the name of the face."""

    def __init__(self, port: int = 0, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        super().__init__(port)
        self.posts: list[SocialPost] = []
        self.asked: list[ReceivedRequest] = []
        self.bluesky = BlueskyFace()
        self._moods: dict[str, Mood] = {}
        self._clock = clock
        self._media: dict[str, Path | bytes] = {}

    def post(self, post: SocialPost, media: Path | bytes) -> None:
        self.posts.append(post)
        self._media[post.id] = media

    def set_mood(self, face: str, mood: Mood) -> None:
        self._moods[face] = mood

    def face_url(self, face: str) -> str:
        """The address of that service for the settings."""
        return f"{self.url}/{face}"

    def media_url(self, post: SocialPost) -> str:
        return f"{self.url}/media/{post.id}.mp4"

    def key_of(self, request: Request) -> str:
        return request.path.lstrip("/").partition("/")[0]

    async def answer(self, request: Request) -> Answer:
        face = self.key_of(request)
        self.asked.append(
            ReceivedRequest(face=face, path=request.path, authorization=request.headers.get("authorization", ""))
        )
        if face == "media":
            return self._send_file(request, Path(unquote(request.path)).stem)
        mood = self._moods.get(face, Mood.GOOD)
        if (refusal := self._refuse(face, mood)) is not None:
            return refusal
        good = self._answer_as(face, request, mood)
        return Answer(good.status, good.body[: len(good.body) // 2], good.headers) if mood is Mood.TRUNCATED else good

    def _refuse(self, face: str, mood: Mood) -> Answer | None:
        refusals: Mapping[Mood, Callable[[], Answer]] = {
            Mood.HTML: lambda: Answer(200, _HTML, {"Content-Type": "text/html; charset=utf-8"}),
            Mood.STRANGE: lambda: Answer.of({"unexpected": [1, 2, 3]}),
            Mood.LIMITED: lambda: social_refusals.limit(face, self._clock()),
            Mood.CAPPED: lambda: social_refusals.cap(self._clock()),
            Mood.UNPAID: social_refusals.unpaid,
            Mood.BLOCKED: lambda: social_refusals.block(face),
            Mood.DOWN: social_refusals.outage,
        }
        return refusals[mood]() if mood in refusals else None

    def _answer_as(self, face: str, request: Request, mood: Mood) -> Answer:
        expired = mood is Mood.EXPIRED
        visible = [] if mood is Mood.EMPTY else [post for post in self.posts if post.posted_at <= self._clock()]
        match face:
            case "x-api":
                found = search_posts(visible, request.first("query") or "")
                answer = social_faces.x_api(request, found, self.media_url, expired)
                return replace(answer, headers={**answer.headers, **social_refusals.x_window(self._clock())})
            case "x":
                return social_faces.x_page(request, search_posts(visible, request.first("q") or ""), expired)
            case "bluesky":
                return self.bluesky.answer(request, visible, self.url, self._clock())
            case "reddit":
                return social_faces.reddit(request, visible, self.media_url, expired)
            case "folder":
                return self._answer_folder(request, visible)
        if request.path.startswith("/hls/"):
            return social_faces.playlist(request, self.url)
        return Answer(HTTPStatus.NOT_FOUND)

    def _answer_folder(self, request: Request, visible: list[SocialPost]) -> Answer:
        name = unquote(request.path.removeprefix("/folder").lstrip("/"))
        if not name:
            return Answer.of([entry for post in visible for entry in social_faces.index_entries(post)])
        post_id, _, ending = name.partition(".")
        post = next((post for post in visible if post.id == post_id), None)
        if post is None:
            return Answer(HTTPStatus.NOT_FOUND)
        return Answer.of(social_faces.side_car(post)) if ending == "mp4.json" else self._send_file(request, post_id)

    def _send_file(self, request: Request, post_id: str) -> Answer:
        media = self._media.get(post_id)
        if media is None:
            return Answer(HTTPStatus.NOT_FOUND)
        body = media if isinstance(media, bytes) else media.read_bytes()
        headers = {"Content-Type": "video/mp4", "Accept-Ranges": "bytes"}
        asked = _RANGE.fullmatch(request.headers.get("range", ""))
        if asked is None or asked[0] == "bytes=-":
            return Answer(200, body, headers)
        first, last = _parse_range(asked[1], asked[2], len(body))
        if first > last:
            return Answer(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, b"", {"Content-Range": f"bytes */{len(body)}"})
        span: Mapping[str, str] = {**headers, "Content-Range": f"bytes {first}-{last}/{len(body)}"}
        return Answer(HTTPStatus.PARTIAL_CONTENT, body[first : last + 1], span)

    async def inspect(self, request: Request) -> Answer:
        return Answer.of([one.model_dump() for one in self.asked])

    def forget(self) -> None:
        self.asked.clear()


def _parse_range(first: str, last: str, size: int) -> tuple[int, int]:
    if not first:
        return max(0, size - int(last)), size - 1
    return int(first), min(int(last) if last else size - 1, size - 1)
