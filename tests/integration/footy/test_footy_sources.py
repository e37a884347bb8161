"""Clip sources against a site on loopback that answers as the real services do, also when they are in a bad mood."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.errors import ConfigurationError, PressboxError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.proxy import GuardedProxy
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.social_posts import SocialPost
from pressbox.demo.simulators.social_site import Mood, SocialSite
from pressbox.footy.adapters.downloads.downloader import ClipDownloader
from pressbox.footy.adapters.sources.bluesky import BlueskySource
from pressbox.footy.adapters.sources.bluesky_session import BlueskyLogin
from pressbox.footy.adapters.sources.folder import FolderSource, HttpFolderSource, archive_directory, folder_source
from pressbox.footy.adapters.sources.reddit import RedditLogin, RedditSource
from pressbox.footy.adapters.sources.registry import configured_sources
from pressbox.footy.adapters.sources.x_api import XApiSource
from pressbox.footy.domain.errors import (
    SourceBlockedError,
    SourceBusyError,
    SourceError,
    SourceLoginError,
    SourceRefusedError,
)
from pressbox.footy.ports.outside import ClipSource, DownloadLimits, SearchRequest
from pressbox.footy.settings import FootySettings
from tests.fakes.spending import free_till
from tests.patience import patience

NOW = datetime(2026, 11, 15, 20, 0, 0, tzinfo=UTC)
VIDEO = b"\x00\x00\x00\x18ftypmp42 a clip"
FACES = ("x-api", "bluesky", "reddit", "folder")
REQUEST = SearchRequest(
    query="(Florian OR Wirtz) (LFC OR Liverpool)",
    player_names=("Florian", "Wirtz"),
    team_aliases=("LFC", "Liverpool"),
    max_results=25,
    max_age=timedelta(minutes=3),
)


class Moment:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
async def site(moment: Moment) -> AsyncIterator[SocialSite]:
    async with SocialSite(clock=moment) as site:
        for number, (text, seconds_ago) in enumerate(
            [
                ("WIRTZ! What a goal #LFC", 30),
                ("Florian Wirtz 1-0 Liverpool", 60),
                ("Wirtz goal from last week, Liverpool", 7 * 86_400),
                ("Salah scores for Liverpool", 20),
                ("Wirtz in training", 10),
                ("A goal of tomorrow: Wirtz, Liverpool", -3600),
            ],
            start=1,
        ):
            posted = NOW - timedelta(seconds=seconds_ago)
            site.post(SocialPost(id=f"10{number}", text=text, posted_at=posted, duration_seconds=10 + number), VIDEO)
        yield site


@pytest.fixture
async def http(site: SocialSite) -> AsyncIterator[GuardedClient]:
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{site.port}",), timeout_seconds=patience(5))) as client:
        yield client


@pytest.fixture
def source_of(site: SocialSite, http: GuardedClient, moment: Moment) -> Callable[[str], ClipSource]:
    def make(face: str) -> ClipSource:
        url = site.face_url(face)
        makers: dict[str, Callable[[], ClipSource]] = {
            "x-api": lambda: XApiSource(http, "token", url, free_till(), clock=moment),
            "bluesky": lambda: BlueskySource(http, url, clock=moment),
            "reddit": lambda: RedditSource(http, ["soccer"], base_url=url, clock=moment),
            "folder": lambda: HttpFolderSource(url, http, moment),
        }
        return makers[face]()

    return make


@pytest.mark.parametrize("face", FACES)
async def test_every_source_finds_the_new_posts_about_the_goal_and_no_others(
    source_of: Callable[[str], ClipSource], face: str
) -> None:
    found = await source_of(face).search(REQUEST)
    assert {video.post_text for video in found} == {"WIRTZ! What a goal #LFC", "Florian Wirtz 1-0 Liverpool"}
    assert {video.source for video in found} == {face}
    assert all(video.media_url and video.posted_at for video in found)
    if face != "bluesky":
        assert {video.duration_seconds for video in found} == {11, 12}


@pytest.mark.parametrize("face", FACES)
async def test_what_is_known_is_not_found_again(source_of: Callable[[str], ClipSource], face: str) -> None:
    source = source_of(face)
    first, *_ = await source.search(REQUEST)
    known = replace(REQUEST, exclude_urls=frozenset({first.video_page_url}))
    assert first.video_page_url not in {video.video_page_url for video in await source.search(known)}


@pytest.mark.parametrize("face", FACES)
async def test_nothing_found_is_an_answer(site: SocialSite, source_of: Callable[[str], ClipSource], face: str) -> None:
    site.set_mood(face, Mood.EMPTY)
    assert list(await source_of(face).search(REQUEST)) == []


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(
    ("mood", "words"),
    [(Mood.TRUNCATED, "incomplete"), (Mood.STRANGE, "unknown form|not a list")],
)
async def test_an_unreadable_answer_is_a_failure_and_never_nothing_found(
    site: SocialSite, source_of: Callable[[str], ClipSource], face: str, mood: Mood, words: str
) -> None:
    site.set_mood(face, mood)
    with pytest.raises(SourceError, match=rf"^{face}: .*({words})"):
        await source_of(face).search(REQUEST)


@pytest.mark.parametrize("face", ["x-api", "bluesky", "reddit"])
async def test_a_page_instead_of_data_is_a_failure(
    site: SocialSite, source_of: Callable[[str], ClipSource], face: str
) -> None:
    site.set_mood(face, Mood.HTML)
    with pytest.raises(SourceError, match=rf"^{face}: sent a web page instead of data"):
        await source_of(face).search(REQUEST)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("kind", [Kind.FAILING, Kind.RESET])
async def test_a_source_that_is_down_is_a_failure(
    site: SocialSite, source_of: Callable[[str], ClipSource], face: str, kind: Kind
) -> None:
    site.tell(face, kind)
    with pytest.raises(SourceError, match=rf"^{face}: "):
        await source_of(face).search(REQUEST)


@pytest.mark.parametrize("face", FACES)
async def test_a_busy_source_is_left_alone_for_as_long_as_it_asks(
    site: SocialSite, source_of: Callable[[str], ClipSource], moment: Moment, face: str
) -> None:
    source = source_of(face)
    site.tell(face, Kind.BUSY, seconds=40, times=1)
    with pytest.raises(SourceBusyError) as busy:
        await source.search(REQUEST)
    assert busy.value.retry_after == timedelta(seconds=40)
    asked = len(site.asked)
    moment.now += timedelta(seconds=39)
    with pytest.raises(SourceBusyError, match="pause of 1 s"):
        await source.search(REQUEST)
    assert len(site.asked) == asked
    moment.now += timedelta(seconds=2)
    assert len(await source.search(REQUEST)) == 2


@pytest.mark.parametrize("face", ["x-api", "reddit"])
async def test_an_expired_login_is_said_in_words(
    site: SocialSite, source_of: Callable[[str], ClipSource], face: str
) -> None:
    site.set_mood(face, Mood.EXPIRED)
    with pytest.raises(SourceLoginError, match=rf"^{face}: "):
        await source_of(face).search(REQUEST)


async def test_a_slow_source_is_waited_for(site: SocialSite, source_of: Callable[[str], ClipSource]) -> None:
    site.tell("x-api", Kind.SLOW, seconds=0.3)
    assert len(await source_of("x-api").search(REQUEST)) == 2


@pytest.mark.parametrize(
    ("face", "mood", "error", "words"),
    [
        ("x-api", Mood.LIMITED, SourceBusyError, "pause of 900 s"),
        ("bluesky", Mood.LIMITED, SourceBusyError, "pause of 300 s"),
        ("reddit", Mood.LIMITED, SourceBusyError, "pause of 4 s"),
        ("x-api", Mood.CAPPED, SourceRefusedError, "month"),
        ("x-api", Mood.UNPAID, SourceRefusedError, "no credits"),
        ("x-api", Mood.BLOCKED, SourceBlockedError, "web page blocks us"),
        ("bluesky", Mood.BLOCKED, SourceLoginError, "need an account"),
        ("reddit", Mood.BLOCKED, SourceLoginError, "without credentials"),
        ("x-api", Mood.DOWN, SourceError, "answered 502"),
        ("bluesky", Mood.DOWN, SourceError, "answered 502"),
        ("reddit", Mood.DOWN, SourceError, "answered 502"),
    ],
)
async def test_each_refusal_has_its_type_and_its_words(
    site: SocialSite,
    source_of: Callable[[str], ClipSource],
    face: str,
    mood: Mood,
    error: type[PressboxError],
    words: str,
) -> None:
    site.set_mood(face, mood)
    with pytest.raises(error, match=rf"^{face}: .*{words}"):
        await source_of(face).search(REQUEST)


@pytest.fixture
def bluesky(site: SocialSite, http: GuardedClient, moment: Moment) -> BlueskySource:
    login = BlueskyLogin(site.face_url("bluesky"), "me.example.org", "right")
    return BlueskySource(http, "http://unused.example.org", login, moment)


def searched_with(site: SocialSite) -> list[str]:
    return [one.authorization for one in site.asked if "searchPosts" in one.path]


async def test_an_expired_session_of_bluesky_is_refreshed_and_the_search_repeated_once(
    site: SocialSite, bluesky: BlueskySource
) -> None:
    assert len(await bluesky.search(REQUEST)) == 2
    site.bluesky.expire()
    assert len(await bluesky.search(REQUEST)) == 2
    assert (site.bluesky.logins, site.bluesky.refreshes) == (1, 1)
    names = len(REQUEST.player_names)
    assert searched_with(site) == ["Bearer access-1"] * (names + 1) + ["Bearer access-2"] * names


async def test_searches_at_the_same_time_refresh_a_session_once(site: SocialSite, bluesky: BlueskySource) -> None:
    await bluesky.search(REQUEST)
    site.bluesky.expire()
    found = await asyncio.gather(*(bluesky.search(REQUEST) for _ in range(4)))
    assert [len(videos) for videos in found] == [2] * 4
    # A refresh token works once: a second refresh would have ended in a second login.
    assert (site.bluesky.logins, site.bluesky.refreshes) == (1, 1)


async def test_bluesky_signs_in_again_when_the_refresh_is_refused(site: SocialSite, bluesky: BlueskySource) -> None:
    await bluesky.search(REQUEST)
    site.bluesky.expire()
    site.bluesky.forget_refreshes()
    assert len(await bluesky.search(REQUEST)) == 2
    assert (site.bluesky.logins, site.bluesky.refreshes) == (2, 1)


async def test_a_revoked_app_password_is_said_plainly_and_not_tried_for_ever(
    site: SocialSite, bluesky: BlueskySource, moment: Moment
) -> None:
    await bluesky.search(REQUEST)
    site.bluesky.revoke()
    with pytest.raises(SourceLoginError, match=r"^bluesky: login refused: .*app password is wrong or revoked"):
        await bluesky.search(REQUEST)
    asked = len(site.asked)
    for _ in range(5):
        with pytest.raises(SourceLoginError, match=r"revoked.* Not asked again before 20:15 UTC"):
            await bluesky.search(REQUEST)
    assert len(site.asked) == asked
    moment.now += timedelta(minutes=16)
    with pytest.raises(SourceLoginError, match="revoked"):
        await bluesky.search(REQUEST)
    assert site.bluesky.logins == 3


async def test_a_wrong_question_does_not_end_the_session_of_bluesky(
    scripted: tuple["Scripted", GuardedClient], moment: Moment
) -> None:
    server, client = scripted
    source = BlueskySource(client, server.url, BlueskyLogin(server.url, "me.example.org", "right"), moment)
    server.given = Answer.of({"accessJwt": "a", "refreshJwt": "r", "posts": []})
    await source.search(REQUEST)
    server.asked.clear()
    server.given = Answer.of({"error": "InvalidRequest", "message": "Error: q must not be empty"}, 400)
    with pytest.raises(SourceRefusedError, match="InvalidRequest"):
        await source.search(REQUEST)
    assert [path.rpartition(".")[2] for path in server.asked] == ["searchPosts"]


async def test_the_last_request_of_a_window_of_bluesky_is_noticed(
    scripted: tuple["Scripted", GuardedClient], moment: Moment
) -> None:
    server, client = scripted
    reset = str(int((NOW + timedelta(minutes=5)).timestamp()))
    headers = {"ratelimit-limit": "3000", "ratelimit-remaining": "0", "ratelimit-reset": reset}
    server.given = Answer(200, b'{"posts": []}', headers)
    source = BlueskySource(client, server.url, clock=moment)
    with pytest.raises(SourceBusyError, match="pause of 300 s"):
        await source.search(REQUEST)
    assert len(server.asked) == 1


async def test_a_wrong_app_password_is_said_in_words(site: SocialSite, http: GuardedClient, moment: Moment) -> None:
    login = BlueskyLogin(site.face_url("bluesky"), "me.example.org", "wrong")
    with pytest.raises(SourceLoginError, match=r"^bluesky: login refused"):
        await BlueskySource(http, "http://unused.example.org", login, moment).search(REQUEST)


async def test_a_refused_login_at_reddit_is_said_plainly_and_not_tried_for_ever(
    site: SocialSite, http: GuardedClient, moment: Moment
) -> None:
    source = RedditSource(http, ["soccer"], RedditLogin("id", "secret"), site.face_url("reddit"), moment)
    site.set_mood("reddit", Mood.EXPIRED)
    for _ in range(3):
        with pytest.raises(SourceLoginError, match=r"^reddit: login refused \(The application was removed\)"):
            await source.search(REQUEST)
    assert len(site.asked) == 1


async def test_a_token_of_reddit_that_ended_early_is_replaced_once(
    scripted: tuple["Scripted", GuardedClient], moment: Moment
) -> None:
    server, client = scripted
    both = {"access_token": "t", "expires_in": 3600, "kind": "Listing", "data": {"children": []}}
    server.given = Answer.of(both)
    source = RedditSource(client, ["soccer"], RedditLogin("id", "secret"), server.url, moment, timedelta())
    assert list(await source.search(REQUEST)) == []
    server.refuse_next = Answer(401, b'{"error": 401}', {"www-authenticate": 'Bearer error="invalid_token"'})
    assert list(await source.search(REQUEST)) == []
    assert [path.rpartition("/")[2] for path in server.asked] == ["access_token", "new", "new", "access_token", "new"]


async def test_one_closed_subreddit_does_not_hide_the_others(
    site: SocialSite, http: GuardedClient, moment: Moment
) -> None:
    class Closed(HttpService):
        async def answer(self, request: Request) -> Answer:
            if "/r/secret/" in request.path:
                return Answer.of({"reason": "private", "message": "Forbidden", "error": 403}, 403)
            return site._answer_as("reddit", request, Mood.GOOD)

    async with Closed() as server, GuardedClient(HttpSettings(allow=(f"127.0.0.1:{server.port}",))) as client:
        source = RedditSource(client, ["secret", "soccer"], base_url=server.url, clock=moment)
        assert len(await source.search(REQUEST)) == 2
        with pytest.raises(SourceLoginError, match="r/secret is private"):
            await source.search(replace(REQUEST, player_names=("Nobody",)))


async def test_reddit_with_credentials_asks_for_a_token_once(
    site: SocialSite, http: GuardedClient, moment: Moment
) -> None:
    source = RedditSource(http, ["soccer"], RedditLogin("id", "secret"), site.face_url("reddit"), moment)
    await source.search(REQUEST)
    moment.now += timedelta(seconds=11)
    await source.search(REQUEST)
    assert [one.path for one in site.asked] == [
        "/reddit/api/v1/access_token",
        "/reddit/r/soccer/new",
        "/reddit/r/soccer/new",
    ]
    assert site.asked[-1].authorization == "Bearer token-of-the-simulated-reddit"
    moment.now += timedelta(days=2)
    await source.search(REQUEST)
    assert site.asked[-2].path.endswith("access_token")


async def test_goals_that_are_searched_at_the_same_time_share_one_list_of_reddit(
    site: SocialSite, source_of: Callable[[str], ClipSource]
) -> None:
    source = source_of("reddit")
    salah = replace(REQUEST, player_names=("Salah",))
    wirtz, other = await asyncio.gather(source.search(REQUEST), source.search(salah))
    assert (len(wirtz), [video.post_text for video in other]) == (2, ["Salah scores for Liverpool"])
    assert len(site.asked) == 1


async def test_the_pages_of_x_are_read_until_there_is_enough(
    site: SocialSite, source_of: Callable[[str], ClipSource]
) -> None:
    for number in range(30):
        post = SocialPost(id=f"2{number:02d}", text="Wirtz LFC", posted_at=NOW, duration_seconds=9)
        site.post(post, VIDEO)
    request = replace(REQUEST, max_results=12)
    assert len(await source_of("x-api").search(request)) == 12
    assert len(site.asked) == 1
    large = replace(REQUEST, max_results=10)
    assert len(await source_of("x-api").search(large)) == 10


async def test_the_best_file_of_a_post_on_x_is_taken(source_of: Callable[[str], ClipSource], site: SocialSite) -> None:
    first, *_ = await source_of("x-api").search(REQUEST)
    assert first.media_url == f"{site.url}/media/101.mp4"
    assert first.video_page_url == "https://x.com/i/status/101/video/1"


class Scripted(HttpService):
    """Answers everything with one given answer; `refuse_next` comes once before it."""

    given = Answer()
    refuse_next: Answer | None = None

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def answer(self, request: Request) -> Answer:
        self.asked.append(request.path)
        refusal, self.refuse_next = self.refuse_next, None
        return refusal or self.given


@pytest.fixture
async def scripted() -> AsyncIterator[tuple[Scripted, GuardedClient]]:
    async with Scripted() as server, GuardedClient(HttpSettings(allow=(f"127.0.0.1:{server.port}",))) as client:
        yield server, client


async def test_the_limits_of_x_are_read_from_its_own_header(
    scripted: tuple[Scripted, GuardedClient], moment: Moment
) -> None:
    server, client = scripted
    reset = int((NOW + timedelta(minutes=7)).timestamp())
    server.given = Answer(429, b"{}", {"x-rate-limit-reset": str(reset)})
    with pytest.raises(SourceBusyError) as busy:
        await XApiSource(client, "token", server.url, free_till(), clock=moment).search(REQUEST)
    assert busy.value.retry_after == timedelta(minutes=7)


async def test_after_the_last_answer_of_a_window_x_is_not_asked(
    scripted: tuple[Scripted, GuardedClient], moment: Moment
) -> None:
    server, client = scripted
    reset = int((NOW + timedelta(minutes=7)).timestamp())
    headers = {"x-rate-limit-remaining": "0", "x-rate-limit-reset": str(reset)}
    server.given = Answer(200, json.dumps({"meta": {"result_count": 0}}).encode(), headers)
    source = XApiSource(client, "token", server.url, free_till(), clock=moment)
    assert list(await source.search(REQUEST)) == []
    with pytest.raises(SourceBusyError):
        await source.search(REQUEST)


async def test_a_question_that_x_does_not_take_is_not_asked_again(
    scripted: tuple[Scripted, GuardedClient], moment: Moment
) -> None:
    server, client = scripted
    server.given = Answer.of({"title": "Invalid Request"}, 400)
    with pytest.raises(SourceRefusedError, match=r"^x-api: .*400"):
        await XApiSource(client, "token", server.url, free_till(), clock=moment).search(REQUEST)


async def test_bluesky_that_wants_an_account_says_what_to_set(
    scripted: tuple[Scripted, GuardedClient], moment: Moment
) -> None:
    server, client = scripted
    server.given = Answer(403, b"<html>Forbidden</html>")
    with pytest.raises(SourceLoginError, match="PRESSBOX_FOOTY_BLUESKY_HANDLE"):
        await BlueskySource(client, server.url, clock=moment).search(REQUEST)


@pytest.mark.parametrize("face", FACES)
async def test_what_a_source_names_can_be_downloaded(
    site: SocialSite, source_of: Callable[[str], ClipSource], http: GuardedClient, tmp_path: Path, face: str
) -> None:
    first, *_ = await source_of(face).search(REQUEST)
    limits = DownloadLimits(1_000_000, timedelta(seconds=40))
    async with GuardedProxy(HttpSettings(allow=(f"127.0.0.1:{site.port}",))) as proxy:
        await ClipDownloader(http, proxy).fetch(first, tmp_path / "clip", limits)
    assert (tmp_path / "clip").read_bytes() == VIDEO
    assert list(tmp_path.iterdir()) == [tmp_path / "clip"]


async def test_the_simulated_site_gives_parts_of_a_file(site: SocialSite, http: GuardedClient) -> None:
    url = site.media_url(site.posts[0])
    part = await http.get(url, headers={"Range": "bytes=4-7"})
    assert (part.status, part.body, part.headers["Content-Range"]) == (206, b"ftyp", f"bytes 4-7/{len(VIDEO)}")
    end = await http.get(url, headers={"Range": "bytes=-4"})
    assert end.body == b"clip"
    assert (await http.get(url, headers={"Range": "bytes=9999-"})).status == 416


async def test_one_odd_post_does_not_hide_the_others(scripted: tuple[Scripted, GuardedClient], moment: Moment) -> None:
    server, client = scripted
    good = {"title": "Wirtz Liverpool", "permalink": "/r/a", "url": "https://streamable.com/x", "created_utc": 1e10}
    listing = {"kind": "Listing", "data": {"children": [{"kind": "t3", "data": {"title": 5}}, {"data": good}]}}
    server.given = Answer.of(listing)
    found = await RedditSource(client, ["soccer"], base_url=server.url, clock=moment).search(REQUEST)
    assert [video.video_page_url for video in found] == ["https://streamable.com/x"]
    listing["data"] = {"children": [{"kind": "t3", "data": {"title": 5}}]}
    server.given = Answer.of(listing)
    with pytest.raises(SourceError, match="none of 1 posts"):
        await RedditSource(client, ["soccer"], base_url=server.url, clock=moment).search(REQUEST)


async def test_the_page_of_a_web_server_is_an_index_too(
    scripted: tuple[Scripted, GuardedClient], moment: Moment
) -> None:
    server, client = scripted
    page = b'<html><a href="../">up</a><a href="Wirtz_Liverpool%201.mp4">x</a><a href="?C=M">sort</a></html>'
    server.given = Answer(200, page, {"Content-Type": "text/html"})
    found = await HttpFolderSource(server.url, client, moment).search(REQUEST)
    assert [(video.post_text, video.media_url) for video in found] == [
        ("Wirtz Liverpool 1", f"{server.url}/Wirtz_Liverpool%201.mp4")
    ]


async def test_a_directory_is_searched_by_side_car_or_name(tmp_path: Path, moment: Moment) -> None:
    (tmp_path / "one.mp4").write_bytes(VIDEO)
    car = {"text": "Wirtz for LFC", "posted_at": NOW.isoformat(), "duration_seconds": 12.5}
    (tmp_path / "one.mp4.json").write_text(json.dumps(car))
    (tmp_path / "older.mp4").write_bytes(VIDEO)
    (tmp_path / "older.json").write_text(json.dumps({**car, "posted_at": (NOW - timedelta(hours=1)).isoformat()}))
    (tmp_path / "Wirtz-Liverpool.webm").write_bytes(VIDEO)
    (tmp_path / "Wirtz-Liverpool.webm.json").write_text("{broken")
    (tmp_path / "notes Wirtz Liverpool.txt").write_text("no video")
    found = await folder_source(str(tmp_path), None, moment).search(REQUEST)  # type: ignore[arg-type]
    assert {(video.post_text, video.duration_seconds) for video in found} == {
        ("Wirtz for LFC", 12.5),
        ("Wirtz Liverpool", None),
    }
    assert all(video.media_url and video.media_url.startswith("file:///") for video in found)


async def test_a_directory_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"^folder: "):
        await FolderSource(tmp_path / "nowhere").search(REQUEST)


def names(settings: FootySettings) -> list[str]:
    return [source.name for source in configured_sources(settings, None, free_till())]  # type: ignore[arg-type]


def test_the_settings_say_which_sources_there_are(tmp_path: Path) -> None:
    assert names(FootySettings()) == []
    folder = FootySettings(folder=str(tmp_path), reddit_subreddits=("soccer",))
    assert names(folder) == ["reddit", "folder"]
    assert archive_directory(folder) == tmp_path
    assert archive_directory(FootySettings(folder="https://example.org/clips")) is None
    assert names(FootySettings(folder=str(tmp_path), sources=("bluesky",))) == ["bluesky"]


@pytest.mark.parametrize("name", ["x-api", "x-browser", "reddit", "folder", "myspace"])
def test_a_named_source_that_lacks_its_settings_is_an_error(name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        names(FootySettings(sources=(name,)))
