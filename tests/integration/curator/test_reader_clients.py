"""Requests as known apps send them, in the order of a first synchronisation.

NetNewsWire, Read You and Fluent Reader as their sources have it; Reeder and FeedMe, whose sources are closed, as
servers that serve them tell. Words in braces are filled in: `{auth}` and `{token}` from the answers before, the rest
from the library.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import pytest

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.curator.apps.domain import OFFSET
from tests.fakes.reader import NOW, Library
from tests.fakes.reader_apps import ReaderApp, reader_app, reader_site

FORM = "application/x-www-form-urlencoded"
ALL = "user/-/state/com.google/reading-list"
READ = "user/-/state/com.google/read"
STARRED = "user/-/state/com.google/starred"


@dataclass(frozen=True)
class Step:
    """One request, and what the app needs of the answer: a text, or keys of its JSON down to a value."""

    path: str
    body: str | None = None
    wants: str = ""
    keys: Sequence[str | int] = ()
    value: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Recorded:
    name: str
    steps: Sequence[Step]
    base: str = "/api/greader.php"


NET_NEWS_WIRE = Recorded(
    "NetNewsWire",
    [
        # Signs in with everything in one line, escaped by itself.
        Step("/accounts/ClientLogin", "Email={email}&Passwd={password}", "Auth="),
        Step("/reader/api/0/token", None, "{token}"),
        Step("/reader/api/0/tag/list?output=json", None, keys=("tags", 1, "id"), value="user/-/label/Sport"),
        Step("/reader/api/0/subscription/list?output=json", keys=("subscriptions", 0, "url"), value="{url}"),
        # Since when it looked is a number with a fraction.
        Step(
            f"/reader/api/0/stream/items/ids?ot={{since}}&n=10000&output=json&xt={READ}&s={ALL}",
            keys=("itemRefs", 0, "id"),
            value="{decimal}",
        ),
        Step(
            "/reader/api/0/stream/items/contents",
            "T={token}&output=json&i=tag:google.com,2005:reader/item/{hexadecimal}",
            keys=("items", 0, "title"),
            value="A goal",
        ),
        Step(
            "/reader/api/0/stream/items/contents",
            "T={token}&output=json&i={hexadecimal}",
            keys=("items", 0, "summary", "content"),
            value="<p>Body.</p>",
        ),
        Step("/reader/api/0/edit-tag", f"T={{token}}&i={{padded}}&a={READ}", "OK"),
        Step(f"/reader/api/0/stream/items/ids?s={STARRED}&n=10000&output=json", keys=("itemRefs",), value=[]),
        Step("/reader/api/0/edit-tag", f"T={{token}}&i={{padded}}&r={READ}", "OK"),
        # A name that is not escaped, with a space in it.
        Step("/reader/api/0/subscription/edit", "T={token}&s={feed}&ac=edit&a=user/-/label/Two Words", "OK"),
        Step("/reader/api/0/rename-tag", "T={token}&s=user/-/label/Two Words&dest=user/-/label/Sport 2", "OK"),
        Step("/reader/api/0/disable-tag", "T={token}&s=user/-/label/Sport 2", "OK"),
    ],
)
READ_YOU = Recorded(
    "Read You",
    [
        Step(
            "/accounts/ClientLogin",
            "output=json&Email={email}&Passwd={password}&client=ReadYou&accountType=HOSTED_OR_GOOGLE&service=reader",
            keys=("Auth",),
            value="{auth}",
        ),
        Step("/reader/api/0/token", None, "{token}"),
        Step("/reader/api/0/user-info?output=json", keys=("userEmail",), value="{mail}"),
        Step("/reader/api/0/subscription/list?output=json", keys=("subscriptions", 0, "id"), value="{feed}"),
        Step(
            f"/reader/api/0/stream/items/ids?output=json&s={ALL}&xt={READ}&n=10000",
            keys=("itemRefs", 0, "id"),
            value="{decimal}",
        ),
        Step(f"/reader/api/0/stream/items/ids?output=json&s={STARRED}&n=10000", keys=("itemRefs",), value=[]),
        Step(
            f"/reader/api/0/stream/items/ids?output=json&s={READ}&ot=1700000000&n=10000", keys=("itemRefs",), value=[]
        ),
        # Sixteen hexadecimal digits without the prefix, and the token again in the body.
        Step(
            "/reader/api/0/stream/items/contents?output=json",
            "i={padded}&T={token}",
            keys=("items", 0, "origin", "streamId"),
            value="{feed}",
        ),
        Step("/reader/api/0/edit-tag?output=json", f"i={{long}}&a={STARRED}&T={{token}}", "OK"),
        Step("/reader/api/0/edit-tag?output=json", f"i={{long}}&r={STARRED}&T={{token}}", "OK"),
        Step("/reader/api/0/mark-all-as-read?output=json", "s={feed}&ts=1700000000000000&T={token}", "OK"),
        Step(
            "/reader/api/0/subscription/edit?output=json", "ac=edit&s={feed}&a=user%2F-%2Flabel%2FSport&T={token}", "OK"
        ),
    ],
)
REEDER = Recorded(
    "Reeder",
    [
        Step("/accounts/ClientLogin", "accountType=GOOGLE&Email={email}&Passwd={password}&service=reader", "Auth="),
        Step(
            "/reader/api/0/subscription/list?output=json&client=Reeder", keys=("subscriptions", 0, "id"), value="{feed}"
        ),
        Step("/reader/api/0/tag/list?output=json&client=Reeder", keys=("tags", 0, "id"), value=STARRED),
        Step(
            f"/reader/api/0/stream/items/ids?output=json&s={ALL}&xt={READ}&n=1000&merge=true&r=n",
            keys=("itemRefs", 0, "id"),
            value="{decimal}",
        ),
        Step("/reader/api/0/stream/items/contents?output=json", "i={decimal}", keys=("items", 0, "id"), value="{long}"),
        # It does not ask for a token, and sends one all the same.
        Step("/reader/api/0/edit-tag", f"T=x&i={{decimal}}&a={READ}&async=true", "OK"),
        Step("/reader/api/0/edit-tag", f"T=x&i={{decimal}}&r={READ}&a=user/-/state/com.google/kept-unread", "OK"),
    ],
)
FEED_ME = Recorded(
    "FeedMe",
    [
        Step("/accounts/ClientLogin", "Email={email}&Passwd={password}", "Auth="),
        Step("/reader/api/0/user-info", keys=("userEmail",), value="{mail}"),
        Step("/reader/api/0/tag/list?output=json", keys=("tags", 1, "type"), value="folder"),
        Step("/reader/api/0/unread-count?output=json", keys=("unreadcounts", 0, "count"), value=1),
        Step(
            f"/reader/api/0/stream/contents/{ALL}?output=json&n=100&xt={READ}&r=o&ck=1",
            keys=("items", 0, "alternate", 0, "type"),
            value="text/html",
        ),
        Step(
            "/reader/api/0/stream/contents/user%2F-%2Flabel%2FSport?n=20",
            keys=("items", 0, "title"),
            value="A goal",
        ),
        # No token at all.
        Step("/reader/api/0/edit-tag", f"i={{long}}&a={READ}&T=", "OK"),
        Step("/reader/api/0/edit-tag", f"i={{long}}&r={READ}&T=", "OK"),
        Step(f"/reader/api/0/stream/contents/{STARRED}?n=20", keys=("items",), value=[]),
    ],
)
FLUENT_READER = Recorded(
    "Fluent Reader",
    [
        Step("/accounts/ClientLogin", "Email={email}&Passwd={password}", "Auth=", headers={"Origin": "file://"}),
        Step("/reader/api/0/subscription/list?output=json", keys=("subscriptions", 0, "title"), value="A paper"),
        Step(
            f"/reader/api/0/stream/items/ids?output=json&s={ALL}&xt={READ}&n=1000",
            keys=("itemRefs", 0, "id"),
            value="{decimal}",
        ),
        Step("/reader/api/0/stream/contents?output=json&n=125&ot=1700000000", keys=("items", 0, "id"), value="{long}"),
        Step("/reader/api/0/edit-tag", f"i={{decimal}}&a={READ}", "OK", headers={"Origin": "null"}),
        Step("/reader/api/0/edit-tag", f"i={{decimal}}&r={READ}", "OK", headers={"Origin": "null"}),
        Step("/reader/api/0/mark-all-as-read", "s={feed}&ts=1", "OK"),
    ],
    base="",
)
FRESH_RSS = Recorded(
    "apps for FreshRSS on Android",
    [
        Step("/accounts/ClientLogin", "Email={email}&Passwd={password}", "SID="),
        Step("/reader/api/0/token", None, "{token}"),
        Step(
            "/reader/api/0/subscription/list?output=json",
            keys=("subscriptions", 0, "categories", 0, "label"),
            value="Sport",
        ),
        Step(
            "/reader/api/0/stream/contents/reading-list-is-not-a-stream",
            wants="Error: This is not the name of a stream.",
        ),
        Step("/reader/api/0/stream/contents/{feed}?n=1&r=n", keys=("items", 0, "id"), value="{long}"),
        Step("/reader/api/0/stream/contents/feed/{url}?n=1", keys=("items", 0, "id"), value="{long}"),
        Step("/reader/api/0/unread-count?output=json&all=true", keys=("unreadcounts", 0, "id"), value="{feed}"),
        Step("/reader/api/0/edit-tag", "i={long}&a=user/-/label/Later&T={token}", "OK"),
        Step("/reader/api/0/stream/items/ids?s=user/-/label/Later&n=9", keys=("itemRefs", 0, "id"), value="{decimal}"),
        Step("/reader/api/0/edit-tag", "i={long}&r=user/-/label/Later&T={token}", "OK"),
        Step("/reader/api/0/preference/stream/list", keys=("streamprefs",), value={}),
    ],
)
CLIENTS = (NET_NEWS_WIRE, READ_YOU, REEDER, FEED_ME, FLUENT_READER, FRESH_RSS)


@pytest.fixture
async def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
async def phone(library: Library, settings: Settings) -> AsyncIterator[ReaderApp]:
    anna = await library.person()
    async with reader_site(library, settings) as app, reader_app(app, library, anna) as made:
        category = (await library.service.sources.create_category(anna, "Sport")).id
        feed = await library.feed(anna, title="A paper", url="https://a.example.org/feed", category_id=category)
        await library.entry(feed, "A goal", at=NOW - timedelta(days=1))
        yield made


async def test_each_known_app_gets_through_its_first_synchronisation(library: Library, phone: ReaderApp) -> None:
    for recorded in CLIENTS:
        known = {
            "email": phone.email.replace("@", "%40"),
            "mail": phone.email,
            "password": phone.password,
            "since": str((NOW - timedelta(hours=1)).timestamp()),
            "feed": "feed/1",
            "url": "https://a.example.org/feed",
            "decimal": str(OFFSET + 1),
            "hexadecimal": f"{OFFSET + 1:x}",
            "padded": f"{OFFSET + 1:016x}",
            "long": f"tag:google.com,2005:reader/item/{OFFSET + 1:016x}",
        }
        for step in recorded.steps:
            answer = await _ask(phone.client, recorded, step, known)
            _learn(step, answer, known)
            _check(f"{recorded.name}: {step.path}", step, answer, known)
        # Each begins with the same: the feed in its folder, the article unread.
        # A category of this name that exists already is given as it is.
        category = await library.service.sources.create_category(1, "Sport")
        await library.service.sources.place(1, 1, title="", category_id=category.id)
        await library.service.states.mark_read(1, [1], read=False)


async def _ask(client: httpx.AsyncClient, recorded: Recorded, step: Step, known: dict[str, str]) -> httpx.Response:
    path = recorded.base + _filled(step.path, known)
    headers = {"Authorization": f"GoogleLogin auth={known['auth']}"} if "auth" in known else {}
    headers |= step.headers
    if step.body is None:
        return await client.get(path, headers=headers)
    return await client.post(path, content=_filled(step.body, known), headers={**headers, "Content-Type": FORM})


def _learn(step: Step, answer: httpx.Response, known: dict[str, str]) -> None:
    if step.path.startswith("/accounts/") and "Auth=" in answer.text:
        known["auth"] = answer.text.partition("Auth=")[2].strip()
    elif step.path.startswith("/accounts/"):
        known["auth"] = answer.json()["Auth"]
    elif step.path.endswith("/token"):
        known["token"] = answer.text


def _check(place: str, step: Step, answer: httpx.Response, known: dict[str, str]) -> None:
    if not step.keys:
        assert _filled(step.wants, known) in answer.text, (place, answer.status_code, answer.text)
        return
    assert answer.status_code == 200, (place, answer.text)
    found: Any = answer.json()
    for key in step.keys:
        found = found[key]
    wanted = _filled(step.value, known) if isinstance(step.value, str) else step.value
    assert found == wanted, place


def _filled(text: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        text = text.replace(f"{{{name}}}", value)
    return text
