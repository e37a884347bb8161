"""Nobody finds secrets of somebody else: every route, every live topic and every export, walked by others.

The walk is derived from the routes. A new one is walked by itself; one with a parameter that is not known here fails
the test, which says what to add.
"""

import html
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.config import Settings
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.live.messages import Message, Wish
from pressbox.core.web.app import routers
from pressbox.curator.cards.pages import CONTEXT_TAB
from pressbox.curator.translate.pages import TRANSLATION_TAB
from pressbox.entry.manifests import APPLICATIONS
from tests.fakes.reader import NOW as READ_AT
from tests.fakes.reader import Library
from tests.fakes.reader_apps import reader_app
from tests.planted import ADDRESS, AUDIENCES, FOLLOWED, WORDS, Planted, plant
from tests.site import Browser, browsing, serving

# Hundreds of requests; beside other tests on a busy machine they take their time.
pytestmark = pytest.mark.limit(900)

SECRET = re.compile(r"planted-[a-z-]+")
STREAM = "/api/stream"
# Parameters that name nothing of anybody: numbers of pages, orders, languages, states.
HARMLESS = {
    "action",
    "after",
    "after_fixtures",
    "after_goals",
    "all",
    "around",
    "at",
    "before",
    "cursor",
    "date",
    "days",
    "direct",
    "done",
    "empty",
    "finished",
    "goal",
    "language",
    "late",
    "limit",
    "marked",
    "moved",
    "neighbours",
    "next",
    "only",
    "graphAdded",
    "opened_at",
    "page",
    "pane",
    "peek",
    "saved",
    "service",
    "shown",
    "sort",
    "started",
    "state",
    "undo",
    "unread",
    # What somebody shares with Pressbox from another application.
    "title",
    "text",
    "url",
    "name",
    # A sentence of one's own that becomes an event.
    "say",
    "description",
}
# What the owner of the secrets must find, or the walk would prove nothing.
SHOWN_TO_OWNER = """
    feed-address own-title category label note failure import entry-title entry-body entry-address summary
    key-point link link-title card card-body entity neighbour quote edge-quote
    conversation question answer research report step source
    app search token follow notice
    event place description-private channel tag announcement-open announcement-private
    body-private reason-private contact-open contact-private
"""
FOR_EVERYONE = {"footy.day", "footy.fixture", "footy.goal", "curator.graph"}
# Why work failed is for those who run the instance, too.
FOR_ADMINISTRATORS = re.compile(r"planted-error-[a-z]+")


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
async def app(library: Library, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(library.resources, settings, APPLICATIONS, library.overrides()) as app:
        yield app


@pytest.fixture
async def administrator(app: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(app, "administrator", Role.ADMIN) as browser:
        yield browser


@pytest.fixture
async def first(app: FastAPI, administrator: Browser, library: Library) -> AsyncIterator[Browser]:
    async with browsing(app, "first") as browser, reader_app(app, library, browser.user_id, "phone") as phone:
        browser.headers.update(phone.headers)
        yield browser


@pytest.fixture
async def other(app: FastAPI, administrator: Browser, library: Library) -> AsyncIterator[Browser]:
    """Somebody with an article of their own, about the same."""
    async with browsing(app, "other") as browser, reader_app(app, library, browser.user_id, "phone") as phone:
        feed = await library.feed(browser.user_id)
        await library.entry(feed, "Their own", story="fire", vector=WORDS, at=READ_AT)
        browser.headers.update(phone.headers)
        yield browser


@pytest.fixture
async def planted(library: Library, first: Browser) -> Planted:
    found = await plant(library.resources, first.user_id)
    library.index.hits[:] = [found.entry_id]
    return found


def in_paths(planted: Planted) -> Mapping[str, Sequence[object]]:
    """What one could put into each parameter of a path to get at something of the first person."""
    nothing = ["nothing"]
    return {
        "workflow_id": planted.workflow_ids,
        "user_id": [planted.user_id],
        "name": ["activity", "curator", "soonish"],
        "path": nothing,
        "fixture_id": [1],
        "team_id": [1],
        "event_id": nothing,
        "share_id": nothing,
        # Of a picture: whoever has the whole address may see it, and nobody can make one.
        "signature": nothing,
        "encoded": nothing,
        "day": ["2026-05-04"],
        "slug": [planted.slug, planted.open_slug],
        "subscription_id": [planted.subscription_id],
        "channel_id": [planted.channel_id],
        # Whoever holds such a link may use it; nobody can guess one.
        "token": nothing,
        "message_id": [planted.message_id],
        "notice_id": [planted.notice_id],
        "entry_id": [planted.entry_id],
        "feed_id": [planted.feed_id, planted.untitled_feed_id],
        "import_id": [planted.import_id],
        "card_id": [planted.card_id],
        "key": [planted.entity],
        "conversation_id": [planted.conversation_id],
        "answer_id": [planted.answer_id],
        "run_id": [planted.run_id],
        "stream": streams(planted),
    }


def in_queries(planted: Planted) -> Mapping[str, Sequence[str]]:
    """The same for queries; some parameters mean something only together."""
    lists = (("feed", planted.feed_id), ("category", planted.category_id), ("label", planted.label_id))
    named = [f"list={kind}&id={id}&all=1" for kind, id in lists] + [f"view={kind}&id={id}" for kind, id in lists]
    searched = ["q=planted", "q=planted-entity", "q=planted&list=all"]
    return {
        "q": searched,
        "id": named,
        "list": [f"list={kind}" for kind in ("all", "starred", "up")],
        "view": [f"view={kind}" for kind in ("all", "starred", "up")],
        "person": [f"person={planted.user_id}"],
        "message_id": [f"message_id={planted.message_id}"],
        "delivery": ["delivery=1"],
        "muted": [f"muted={FOLLOWED}"],
        "subscription": [f"subscription={planted.subscription_id}"],
        "to": ["to=planted-tag"],
        "invitation": ["invitation=nothing"],
        "token": ["token=nothing"],
        "question": ["question=what"],
        "entry": [f"entry={planted.entry_id}"],
        "stream": [f"stream={quote(one, safe='')}" for one in streams(planted)],
        # It would ask the web.
        "address": [""],
        "topics": [""],
    }


def streams(planted: Planted) -> list[str]:
    return [
        f"feed/{planted.feed_id}",
        f"feed/{ADDRESS}",
        "user/-/label/planted-label",
        "user/-/state/com.google/starred",
    ]


def every_route() -> Iterator[tuple[str, APIRoute]]:
    for router in routers(APPLICATIONS):
        yield from _routes_of(router)


def _routes_of(router: APIRouter, before: str = "") -> Iterator[tuple[str, APIRoute]]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            if "GET" in (route.methods or ()):
                yield before + route.path, route
        else:
            inside = before + route.include_context.prefix  # type: ignore[attr-defined]
            yield from _routes_of(route.original_router, inside)  # type: ignore[attr-defined]


def queries_of(dependant: object) -> Iterator[tuple[str, bool]]:
    for parameter in dependant.query_params:  # type: ignore[attr-defined]
        yield parameter.alias, parameter.field_info.is_required()
    for inner in dependant.dependencies:  # type: ignore[attr-defined]
        yield from queries_of(inner)


def addresses(path: str, route: APIRoute, planted: Planted) -> Iterator[str]:
    """Every address of a route that could give something away."""
    paths, queries = in_paths(planted), in_queries(planted)
    filled = [path]
    for name in re.findall(r"\{(\w+)(?::\w+)?\}", path):
        assert name in paths, f"{path}: add to in_paths what of the first person {{{name}}} could name."
        parameter = re.compile(rf"\{{{name}(?::\w+)?\}}")
        filled = [parameter.sub(quote(str(value)), one) for one in filled for value in paths[name]]
    asked = dict(queries_of(route.dependant))
    for name in asked:
        assert name in queries or name in HARMLESS, (
            f"{path}: add to in_queries what of the first person {name}=… could name, or {name} to HARMLESS."
        )
    required = [name for name, is_required in asked.items() if is_required]
    always = "&".join(queries[name][0] for name in required)
    for one in filled:
        yield f"{one}?{always}"
        for name in asked:
            for query in queries.get(name, ()):
                if {key for key, _ in parse_qsl(query)} <= set(asked):
                    yield f"{one}?{always}&{query}"


def every_address(planted: Planted) -> Iterator[str]:
    walked = set()
    for path, route in every_route():
        if path == STREAM:
            continue
        found = addresses(path, route, planted)
        # The same under another beginning is asked only once.
        yield from [next(found)] if route.endpoint in walked else found
        walked.add(route.endpoint)
    for tab in (TRANSLATION_TAB, CONTEXT_TAB):
        yield f"/reader/entries/{planted.entry_id}?tab={tab.name}"
        yield f"/reader/entries/{planted.entry_id}/part?tab={tab.name}"


def secrets_in(text: str, asked: str) -> set[str]:
    """The secrets in an answer, however they are written; but for those that were in the question."""
    plain = html.unescape(unquote(text))
    return set(SECRET.findall(plain)) - set(SECRET.findall(unquote(unquote(asked))))


async def walk(browser: httpx.AsyncClient, planted: Planted) -> dict[str, set[str]]:
    """By secret, where it was found."""
    found: dict[str, set[str]] = {}
    for address in dict.fromkeys(every_address(planted)):
        answer = await browser.get(address, headers={"Accept": "*/*"})
        assert answer.status_code < 500 or "/temporal" in address, f"{address}: {answer.status_code}"
        seen = answer.text + "".join(f"{name}: {value}\n" for name, value in answer.headers.items())
        for secret in secrets_in(seen, address):
            found.setdefault(secret, set()).add(address)
    return found


async def hear(feed: ChangeFeed, viewer: Viewer) -> list[Message]:
    """Everything that the stream tells this person, of all topics at once."""
    missed = await feed.missed(0, Wish(frozenset(feed.topics), frozenset()))
    assert missed.changes
    return [message async for messages in feed.load(missed.changes, viewer) for message in messages]


def viewer(app: FastAPI, browser: Browser, *, administrator: bool = False) -> Viewer:
    return Viewer(browser.user_id, administrator, app.state.audiences)


async def test_the_walk_finds_every_secret_for_its_owner(app: FastAPI, first: Browser, planted: Planted) -> None:
    """Otherwise it would prove nothing that others find none."""
    found = await walk(first, planted)
    assert {f"planted-{name}" for name in SHOWN_TO_OWNER.split()} - set(found) == set()
    work = {name for name in found if name.startswith("planted-work-")}
    assert work == {f"planted-work-{name}" for name in AUDIENCES if name != "nobody"}
    heard = await hear(app.state.feed, viewer(app, first))
    assert {one.kind for one in heard} == set(app.state.feed.topics) - FOR_EVERYONE


async def test_another_member_finds_nothing(app: FastAPI, other: Browser, planted: Planted) -> None:
    assert await walk(other, planted) == {}
    heard = await hear(app.state.feed, viewer(app, other))
    assert {(one.kind, one.key) for one in heard} <= {("curator.person", str(other.user_id))}


async def test_a_visitor_finds_nothing(app: FastAPI, planted: Planted) -> None:
    async with Browser(app) as visitor:
        assert await walk(visitor, planted) == {}
        assert (await visitor.get(f"{STREAM}?topics=workflow")).status_code == 401


async def test_an_administrator_finds_why_work_failed_and_nothing_else(
    app: FastAPI, administrator: Browser, planted: Planted
) -> None:
    found = await walk(administrator, planted)
    assert {name for name in found if not FOR_ADMINISTRATORS.fullmatch(name)} == set()
    heard = await hear(app.state.feed, viewer(app, administrator, administrator=True))
    assert {one.key for one in heard if one.kind == "workflow"} == set(planted.workflow_ids)
    assert {(one.kind, one.key) for one in heard if one.kind != "workflow"} <= {
        ("curator.person", str(administrator.user_id))
    }
    told = {secret for one in heard for secret in SECRET.findall(one.wire.decode())}
    assert {name for name in told if not FOR_ADMINISTRATORS.fullmatch(name)} == set()


async def test_what_belongs_to_another_cannot_be_followed(
    app: FastAPI, first: Browser, other: Browser, administrator: Browser, planted: Planted
) -> None:
    named = {
        "curator.person": first.user_id,
        "curator.answer": planted.answer_id,
        "curator.research": planted.run_id,
        "soonish.event": planted.slug,
        "soonish.notification": planted.message_id,
        "today": first.user_id,
    }
    # Everybody's, for whoever names one: a stream of all goals would tell what somebody hides.
    public = {"footy.goal"}
    by_name = {kind for kind, topic in app.state.feed.topics.items() if topic.by_name}
    assert by_name - public == set(named), "Name here what of the first person could be followed."
    for kind, key in named.items():
        for browser in (other, administrator):
            refused = await browser.get(f"{STREAM}?topics={kind}:{key}")
            assert refused.status_code == 404, (kind, refused.text)
            unknown = await browser.get(f"{STREAM}?topics={kind}:999999")
            texts = [answer.json()["error"]["message"] for answer in (refused, unknown)]
            assert texts[0].replace(str(key), "999999") == texts[1]


def test_every_parameter_is_known() -> None:
    """Without the walk, so that whoever adds a route hears of it soon."""
    names: dict[str, Any] = dict.fromkeys((one.name for one in fields(Planted)), 1)
    anything = Planted(**names | {"workflow_ids": ("x",)})
    assert len(list(every_address(anything))) > 200
