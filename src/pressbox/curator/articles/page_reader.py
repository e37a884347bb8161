"""Reads the page of an article: HTML only, within limits. The kind of error says whether another try makes sense."""

import re
from datetime import UTC, datetime, timedelta

import httpx

from pressbox.core.errors import GoneError, NotFoundError, PermanentError, RateLimitedError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.http.pauses import pause
from pressbox.curator.articles.domain import Page
from pressbox.curator.text.charsets import decode

TIMEOUT = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=24)
_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"}
_READABLE = ("text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml", "")
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*+=\s*+[\"']?+\s*+([A-Za-z0-9._:-]{2,40})", re.IGNORECASE)
_CHARSET_IN_TYPE = re.compile(r"charset\s*=", re.IGNORECASE)
_WHERE_META_IS = 4096
_TAG = re.compile(r"<\s*(?:!doctype|html|head|body|title|p|div|article|h1|meta)\b", re.IGNORECASE)
_REFUSALS = (httpx.codes.UNAUTHORIZED, httpx.codes.PAYMENT_REQUIRED, httpx.codes.FORBIDDEN)
_LATER = (httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_EARLY)


class GuardedPageReader:
    """Reads through the outbound guard. What is no readable page is a PermanentError that says what it is instead."""

    def __init__(self, http: GuardedClient, timeout: timedelta = TIMEOUT) -> None:
        self._http = http
        self._timeout = timeout

    async def read(self, url: str, limit: int) -> Page:
        # Streamed, so that no film is downloaded before its type is known.
        async with self._http.stream(url, headers=_HEADERS, max_bytes=limit, timeout=self._timeout) as answer:
            _check_status(answer.status, answer.headers)
            kind = _media_type(answer.headers)
            if kind not in _READABLE:
                raise PermanentError(
                    f"The address leads to {_describe_type(kind)}, which cannot be read as an article."
                )
            body = b"".join([piece async for piece in answer.chunks()])
        return _decode_page(Response(answer.url, answer.status, answer.headers, body), kind)


def _decode_page(answer: Response, kind: str) -> Page:
    if answer.body[:5] == b"%PDF-":
        raise PermanentError("The address leads to a PDF, which cannot be read as an article.")
    text = decode(answer.body, _content_type(answer)).text
    if not text.strip():
        raise PermanentError("The page is empty.")
    if kind in ("", "text/plain") and not _TAG.search(text[:_WHERE_META_IS]):
        raise PermanentError("The address leads to plain text, which cannot be read as an article.")
    return Page(url=answer.url, html=text, content_type=kind or "text/html")


def _content_type(answer: Response) -> str:
    """What the server says comes before what the page says, as in browsers."""
    stated = str(answer.headers.get("content-type", ""))
    if _CHARSET_IN_TYPE.search(stated):
        return stated
    found = _META_CHARSET.search(answer.body[:_WHERE_META_IS])
    return f"text/html; charset={found[1].decode('ascii')}" if found else stated


def _media_type(headers: httpx.Headers) -> str:
    return str(headers.get("content-type", "")).partition(";")[0].strip().lower()


def _describe_type(kind: str) -> str:
    if kind == "application/pdf":
        return "a PDF"
    family = kind.partition("/")[0]
    return {"image": "a picture", "video": "a film", "audio": "a sound"}.get(family, f"a file ({kind[:60]})")


def _check_status(status: int, headers: httpx.Headers) -> None:
    if status == httpx.codes.OK:
        return
    wait = pause(headers, datetime.now(UTC))
    if status == httpx.codes.TOO_MANY_REQUESTS or (status >= httpx.codes.INTERNAL_SERVER_ERROR and wait is not None):
        bounded = None if wait is None else min(wait, LONGEST_PAUSE)
        raise RateLimitedError(f"The site asks to come back later ({status}).", retry_after=bounded)
    if status >= httpx.codes.INTERNAL_SERVER_ERROR or status in _LATER:
        raise TransientError(f"The site answers {status}.")
    if status in _REFUSALS:
        raise PermanentError(f"The site does not show this page to us ({status}); it may want people to sign in.")
    if status == httpx.codes.NOT_FOUND:
        raise NotFoundError("The page is not there (404).")
    if status == httpx.codes.GONE:
        raise GoneError("The page was taken down (410).")
    raise PermanentError(f"The site answers {status} instead of a page.")
