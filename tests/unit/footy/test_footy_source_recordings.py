"""Every recorded answer of Reddit, Bluesky, X and Wikidata through our adapters, whole and broken off in the middle.

Each gives a right result or an error of a narrow type that says limited, refused or unreadable. None of them is ever
"nothing found", save where the service says so itself.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pressbox.core.errors import PressboxError
from pressbox.footy.adapters.aliases.wikidata import Wikidata
from pressbox.footy.adapters.sources.bluesky import BlueskySource, Post
from pressbox.footy.adapters.sources.bluesky_session import BlueskyLogin
from pressbox.footy.adapters.sources.client import SourceClient
from pressbox.footy.adapters.sources.reddit import RedditLogin, RedditSource
from pressbox.footy.adapters.sources.x_api import XApiSource
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import SourceBusyError, SourceError, SourceLoginError, SourceRefusedError
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.ports.storage import TeamName
from tests.fakes.recorded_http import Recorded, client_of, read_interactions
from tests.fakes.spending import free_till
from tests.shared_data import shared

NOW = datetime(2026, 11, 15, 20, 0, tzinfo=UTC)
REQUEST = SearchRequest("Spiderman", ("Spiderman",), ("actor",), 25, timedelta(days=36_500))
TOKEN = Recorded("a token", "", 200, b'{"access_token": "t", "token_type": "bearer", "expires_in": 3600}')
SESSION = Recorded("a session", "", 200, b'{"accessJwt": "a", "refreshJwt": "r"}')
EMPTY_LISTING = Recorded("an empty list", "", 200, b'{"kind": "Listing", "data": {"children": []}}')


def test_the_recordings_are_all_there() -> None:
    if shared("providers") is None:
        return
    assert len(interactions("reddit/praw") + interactions("reddit/prawcore")) >= 100
    assert (len(bodies("bluesky")), len(bodies("wikidata")), len(bodies("x_twitter/graphql"))) == (24, 4, 39)
    assert len(interactions("x_twitter/api_v2") + interactions("x_twitter/api_v1")) >= 14


def recordings(folder: str, pattern: str = "*.json") -> list[Path]:
    found = shared(f"providers/{folder}")
    return sorted(found.glob(pattern)) if found else []


def interactions(folder: str) -> list[Recorded]:
    return [one for path in recordings(folder) for one in read_interactions(path.name, path.read_bytes())]


def bodies(folder: str, pattern: str = "*.json") -> list[Recorded]:
    return [Recorded(path.name, "", 200, path.read_bytes()) for path in recordings(folder, pattern)]


def with_halves(recorded: Sequence[Recorded]) -> Iterator[Recorded]:
    for one in recorded:
        yield one
        if one.body:
            yield one.half


def now() -> datetime:
    return NOW


def run_search(source: RedditSource | BlueskySource | XApiSource) -> Sequence[FoundVideo] | PressboxError:
    """Anything but an error of ours would fail the test."""
    try:
        return asyncio.run(_search(source))
    except PressboxError as error:
        return error


async def _search(source: RedditSource | BlueskySource | XApiSource) -> Sequence[FoundVideo]:
    return await source.search(REQUEST)


def refusal_of(status: int) -> type[PressboxError] | None:
    """What any service means by a status."""
    if status == 200:
        return None
    if status == 429:
        return SourceBusyError
    if status in (401, 403):
        return SourceLoginError
    return SourceRefusedError if 400 <= status < 500 else SourceError


def reddit_listing(answer: Recorded) -> Sequence[FoundVideo] | PressboxError:
    source = RedditSource(
        client_of(lambda url: TOKEN if url.endswith("access_token") else answer),
        ["a"],
        RedditLogin("i", "s"),
        clock=now,
    )
    return run_search(source)


def test_every_recorded_answer_of_reddit_as_a_list_of_posts() -> None:
    for one in with_halves(interactions("reddit/praw") + interactions("reddit/prawcore")):
        result = reddit_listing(one)
        given = one.parse()
        expected = refusal_of(one.status)
        if expected is not None:
            assert type(result) is expected, one.name
        elif isinstance(given, dict) and given.get("kind") == "Listing" and _has_posts(given):
            assert not isinstance(result, PressboxError), one.name
        else:
            assert type(result) is SourceError, one.name


def _has_posts(listing: dict[str, Any]) -> bool:
    children = listing["data"]["children"]
    return not children or any(child["kind"] == "t3" for child in children)


def test_every_recorded_answer_of_reddit_as_an_answer_to_the_login() -> None:
    for one in with_halves(interactions("reddit/praw") + interactions("reddit/prawcore")):
        answers = {True: one, False: EMPTY_LISTING}
        http = client_of(lambda url, answers=answers: answers[url.endswith("access_token")])  # type: ignore[misc]
        result = run_search(RedditSource(http, ["a"], RedditLogin("i", "s"), clock=now))
        given = one.parse()
        if one.status == 200 and isinstance(given, dict) and "access_token" in given:
            assert result == (), one.name
        elif (one.status == 200 and isinstance(given, dict) and "error" in given) or one.status in range(400, 429):
            assert type(result) is SourceLoginError, one.name
            assert "login refused" in result.message, one.name
        elif one.status == 429:
            assert type(result) is SourceBusyError, one.name
        elif one.status not in range(429, 500):
            assert type(result) is SourceError, one.name


def test_the_videos_of_a_recorded_list_of_reddit_come_with_their_playlist() -> None:
    lists = [one for one in interactions("reddit/praw") if "/best" in one.uri]
    for one in lists:
        result = reddit_listing(one)
        assert not isinstance(result, PressboxError)
        assert [(video.video_page_url, video.media_url) for video in result] == [
            ("https://v.redd.it/gvfh7n7nv1w01", "https://v.redd.it/gvfh7n7nv1w01/DASHPlaylist.mpd")
        ]
    assert len(lists) == (1 if shared("providers") else 0)


def bluesky_page(answer: Recorded) -> Sequence[FoundVideo] | PressboxError:
    login = BlueskyLogin("https://pds.example.org", "h", "p")
    return run_search(
        BlueskySource(client_of(lambda url: SESSION if "server." in url else answer), "", login, clock=now)
    )


def test_every_recorded_answer_of_bluesky_as_a_page_of_posts() -> None:
    everything = [*bodies("bluesky"), *bodies("bluesky/lexicons"), *bodies("bluesky", "*.snap")]
    for one in with_halves([*everything, *bodies("bluesky/manifests", "*")]):
        result = bluesky_page(one)
        if (given := one.parse()) is not None and "posts" in given:
            assert result == (), one.name
        else:
            assert type(result) is SourceError, one.name


def _post_views(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if {"uri", "author", "record", "indexedAt"} <= set(value):
            yield value
        for item in value.values():
            yield from _post_views(item)
    elif isinstance(value, list):
        for item in value:
            yield from _post_views(item)


def test_every_recorded_post_of_bluesky_can_be_read() -> None:
    views = [view for one in bodies("bluesky") for view in _post_views(one.parse())]
    client = SourceClient("bluesky", client_of(lambda _: SESSION), now)
    assert len(client.parse_each(views, Post)) == len(views)
    assert len(views) >= (12 if shared("providers") else 0)


VIDEO = {"$type": "app.bsky.embed.video#view", "cid": "c", "playlist": "https://video.bsky.app/watch/d/c/playlist.m3u8"}


@pytest.mark.parametrize(
    "embed",
    [
        VIDEO,
        {"$type": "app.bsky.embed.recordWithMedia#view", "media": VIDEO, "record": {"record": {"uri": "at://x"}}},
        {"$type": "app.bsky.embed.record#view", "record": {"uri": "at://x", "value": {}, "embeds": [VIDEO]}},
        {
            "$type": "app.bsky.embed.recordWithMedia#view",
            "media": {"$type": "app.bsky.embed.images#view", "images": []},
            "record": {"record": {"uri": "at://x", "embeds": [VIDEO]}},
        },
    ],
    ids=["own", "beside a quote", "quoted", "quoted beside pictures"],
)
def test_a_video_of_bluesky_is_found_in_all_its_places(embed: dict[str, Any]) -> None:
    view = {
        "uri": "at://did:plc:a/app.bsky.feed.post/1",
        "author": {"did": "did:plc:a", "handle": "a.example.org"},
        "record": {"text": "Spiderman the actor"},
        "embed": embed,
        "indexedAt": NOW.isoformat(),
    }
    result = bluesky_page(Recorded("own", "", 200, json.dumps({"posts": [view]}).encode()))
    assert not isinstance(result, PressboxError)
    assert [video.media_url for video in result] == [VIDEO["playlist"]]


def x_page(answer: Recorded) -> Sequence[FoundVideo] | PressboxError:
    return run_search(XApiSource(client_of(lambda _: answer), "t", "https://api.x.com", free_till(), clock=now))


def test_every_recorded_answer_of_x_as_a_page_of_its_api() -> None:
    recorded = [*interactions("x_twitter/api_v2"), *interactions("x_twitter/api_v1"), *bodies("x_twitter/graphql")]
    for one in with_halves(recorded):
        result = x_page(one)
        given = one.parse()
        meta = given.get("meta", {}) if isinstance(given, dict) else {}
        if one.status == 200 and "result_count" in meta and isinstance(given.get("data"), list):
            assert not isinstance(result, PressboxError) or "/tweets/search" not in one.uri, one.name
        else:
            assert isinstance(result, SourceError | SourceRefusedError), one.name


X_PROBLEMS = [
    (402, {"title": "CreditsDepleted", "type": "…/problems/credits"}, SourceRefusedError, "no credits left"),
    (403, {"title": "Client Forbidden", "reason": "client-not-enrolled"}, SourceLoginError, "without access"),
    (429, {"title": "UsageCapExceeded", "type": "https://…/problems/usage-capped"}, SourceRefusedError, "month"),
    (429, {"title": "Too Many Requests"}, SourceBusyError, "pause of"),
    (401, {"title": "Unauthorized", "status": 401}, SourceLoginError, "Unauthorized"),
    (200, {"errors": [{"title": "Invalid Request", "detail": "bad query"}]}, SourceRefusedError, "bad query"),
    (200, {"meta": {"result_count": 3}}, SourceError, "holds none"),
    (200, {}, SourceError, "unknown form"),
]


@pytest.mark.parametrize(("status", "body", "error", "words"), X_PROBLEMS)
def test_each_refusal_of_the_api_of_x_has_its_words(
    status: int, body: dict[str, Any], error: type[PressboxError], words: str
) -> None:
    headers = {"x-rate-limit-remaining": "39999", "x-rate-limit-reset": str(int(NOW.timestamp()) + 60)}
    result = x_page(Recorded("documented", "", status, json.dumps(body).encode(), headers))
    assert type(result) is error
    assert words in result.message


async def test_an_account_of_x_that_is_used_up_is_not_asked_again_at_once() -> None:
    problem = {"title": "UsageCapExceeded", "type": "https://…/problems/usage-capped"}
    asked: list[str] = []

    def answer(url: str) -> Recorded:
        asked.append(url)
        return Recorded("documented", "", 429, json.dumps(problem).encode())

    source = XApiSource(client_of(answer), "t", "https://api.x.com", free_till(), clock=now)
    for _ in range(3):
        with pytest.raises(SourceRefusedError, match="month"):
            await source.search(replace(REQUEST, query="again"))
    assert len(asked) == 1


def test_every_recording_about_wikidata_as_an_answer_of_search_and_query() -> None:
    hits = Recorded("hits", "", 200, b'{"query": {"search": [{"title": "Q1"}]}}')
    recorded = [*bodies("wikidata"), *bodies("wikidata/openfootball_clubs", "*.txt")]
    for one in with_halves(recorded):
        for answers in ({"api.php": one, "sparql": one}, {"api.php": hits, "sparql": one}):
            http = client_of(lambda url, answers=answers: answers["api.php" if "api.php" in url else "sparql"])  # type: ignore[misc]
            wikidata = Wikidata(http, "https://www.wikidata.org", "https://query.wikidata.org/sparql", now)
            with pytest.raises(SourceError):
                asyncio.run(wikidata.find_aliases(TeamName(1, "Alanyaspor", "Turkey")))
