"""Reading pages over HTTP: what is a page, what is something else, and when to come back."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.errors import (
    GoneError,
    NotFoundError,
    PermanentError,
    RateLimitedError,
    RefusedAddressError,
    TransientError,
)
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.decoding import AnswerTooLargeError
from pressbox.curator.articles.page_reader import GuardedPageReader
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.http_service import Answer, HttpService, Request

LIMIT = 100_000


class Site(HttpService):
    """Answers what a test put under a path."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[str, Answer] = {}

    def put(self, body: bytes, content_type: str = "text/html", status: int = 200, **headers: str) -> str:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        path = f"/page-{len(self.pages)}"
        self.pages[path] = Answer(status, body, {"Content-Type": content_type, **named})
        return f"{self.url}{path}"

    async def answer(self, request: Request) -> Answer:
        return self.pages[request.path]


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture
async def reader(site: Site) -> AsyncIterator[GuardedPageReader]:
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{site.port}",))) as client:
        yield GuardedPageReader(client, timedelta(seconds=20))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>Brücke</p>".encode(), "text/html; charset=utf-8"),
        ("<p>Brücke</p>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ("<html><meta charset='iso-8859-1'><p>Brücke</p>".encode("latin-1"), "text/html"),
        ("<p>Brücke</p>".encode(), "text/html; charset=iso-8859-1"),
        ("\ufeff<p>Brücke</p>".encode("utf-16"), "text/html"),
        (b"<p>Br\xc3\xbccke</p>", ""),
        (b"<p>Br\xc3\xbccke</p>", "text/plain"),
    ],
    ids=["utf-8", "latin 1", "said by the page", "said wrongly", "utf-16", "no type", "plain type"],
)
async def test_a_page_is_read_in_its_own_letters(
    site: Site, reader: GuardedPageReader, body: bytes, content_type: str
) -> None:
    page = await reader.read(url := site.put(body, content_type), LIMIT)
    assert "<p>Brücke</p>" in page.html
    assert page.url == url


async def test_the_address_of_a_page_is_where_it_was_found(site: Site, reader: GuardedPageReader) -> None:
    there = site.put(b"<p>text</p>")
    assert (await reader.read(site.put(b"", status=302, Location=there), LIMIT)).url == there


@pytest.mark.parametrize(
    ("body", "content_type", "named"),
    [
        (b"%PDF-1.7", "application/pdf", "PDF"),
        (b"%PDF-1.7", "text/html", "PDF"),
        (b"\xff\xd8", "image/jpeg", "picture"),
        (b"", "video/mp4", "film"),
        (b"PK", "application/zip", "application/zip"),
        (b"only words", "text/plain", "plain text"),
        (b"  ", "text/html", "empty"),
    ],
)
async def test_what_is_no_page_is_named(
    site: Site, reader: GuardedPageReader, body: bytes, content_type: str, named: str
) -> None:
    with pytest.raises(PermanentError, match=named):
        await reader.read(site.put(body, content_type), LIMIT)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, NotFoundError),
        (410, GoneError),
        (401, PermanentError),
        (403, PermanentError),
        (402, PermanentError),
        (400, PermanentError),
        (204, PermanentError),
        (500, TransientError),
        (502, TransientError),
        (408, TransientError),
    ],
)
async def test_a_status_says_whether_to_try_again(
    site: Site, reader: GuardedPageReader, status: int, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match=str(status)):
        await reader.read(site.put(b"", status=status), LIMIT)


async def test_a_busy_site_says_when_to_come_back(site: Site, reader: GuardedPageReader) -> None:
    with pytest.raises(RateLimitedError) as caught:
        await reader.read(site.put(b"", status=429, Retry_After="120"), LIMIT)
    assert caught.value.retry_after == timedelta(seconds=120)
    later = format_datetime(datetime.now(UTC) + timedelta(days=30), usegmt=True)
    with pytest.raises(RateLimitedError) as caught:
        await reader.read(site.put(b"", status=503, Retry_After=later), LIMIT)
    # A month is not believed.
    assert caught.value.retry_after == timedelta(days=1)
    with pytest.raises(RateLimitedError) as caught:
        await reader.read(site.put(b"", status=429), LIMIT)
    assert caught.value.retry_after is None


async def test_a_page_that_is_too_large_is_given_up(site: Site, reader: GuardedPageReader) -> None:
    with pytest.raises(AnswerTooLargeError):
        await reader.read(site.put(b"<p>" + b"x" * LIMIT), LIMIT)


async def test_a_silent_site_is_transient(site: Site) -> None:
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{site.port}",))) as client:
        reader = GuardedPageReader(client, timedelta(seconds=0.2))
        url = site.put(b"<p>x")
        site.tell(url.removeprefix(f"{site.url}/"), Kind.HANGING)
        with pytest.raises(TransientError):
            await reader.read(url, LIMIT)


async def test_an_address_inside_is_refused_also_after_a_redirect(site: Site, reader: GuardedPageReader) -> None:
    with pytest.raises(RefusedAddressError):
        await reader.read(site.put(b"", status=302, Location="http://127.0.0.1:9/"), LIMIT)
