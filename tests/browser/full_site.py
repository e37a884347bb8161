"""A Pressbox with something on every page, and the addresses of all its pages, taken from the routes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import quote

from pressbox.core.accounts.models import Role
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.publish import withdraw
from pressbox.delivery.domain.links import StoppedWay
from pressbox.delivery.wiring import way_links
from pressbox.inbox.store import InboxStore
from pressbox.soonish.domain.links import Purpose
from pressbox.soonish.wiring import links as signed_links
from tests.browser.conftest import Site, Work
from tests.fakes.footy_day import MatchDay, film
from tests.fakes.newsstand import RICH, Newsstand
from tests.fakes.notices import GOAL, TEAM, tell
from tests.integration.web.test_whose_work import every_route, in_paths
from tests.planted import Planted, plant

PASSWORD = "four words in a row"
EMAIL = "ada@example.org"
# What is not for eyes: interfaces, files, streams, and parts that scripts put into pages.
NO_PAGES = re.compile(
    r"/(api/(?!docs)|static|temporal|opml|accounts/|greader/|reader/(api|user-info|ping|atom|out|pictures)\b|sign-in/oidc)|"
    r".*(/part|/parts|/live|-part|\.(mp4|jpg|ics|md|html|xml)|/export|/board/(reach|messages|subscribers))$|"
    r"/reader/(list|heading|progress)$|/reader/research/runs$|/footy/follow/found$"
)
PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True)
class FullSite:
    site: Site
    planted: Planted
    values: Mapping[str, Sequence[object]]

    def addresses(self) -> Iterator[str]:
        """Every page, by each of the things that it can show. A parameter that is not known here is a KeyError."""
        for path, _ in every_route():
            if not NO_PAGES.match(path):
                yield from self._fill(path)
        yield from self._more()

    def _fill(self, path: str) -> Iterator[str]:
        name = next(iter(PARAMETER.findall(path)), None)
        if name is None:
            yield path
            return
        known = {**in_paths(self.planted), **self.values}
        for value in known.get(path, known[name]):
            yield from self._fill(PARAMETER.sub(quote(str(value)), path, count=1))

    def _more(self) -> Iterator[str]:
        """What one address shows with a question."""
        entry = self.planted.entry_id
        yield from ("/search?q=planted", "/reader?list=all&all=1", "/reader?q=planted", "/footy/search?q=Liverpool")
        yield from (f"/reader/entries/{entry}?tab={tab}" for tab in ("translation", "context"))
        yield "/nowhere-at-all"


async def fill(site: Site) -> FullSite:
    """One person, the administrator, to whom all of it belongs."""
    user = await site.accounts.add_user(EMAIL, PASSWORD, role=Role.ADMIN, name="Ada")
    await site.accounts.add_user("grace@example.org", PASSWORD, name="Grace")
    planted = await plant(site.resources, user.id)
    goal = await _fill_match_day(MatchDay(site.resources))
    notice = await _fill_inbox(site, user.id)
    rich = await _fill_reader(Newsstand(site.resources, user.id))
    await _fill_activity(Work(site.resources.database))
    links = signed_links(site.settings)
    own = planted.subscription_id
    values: dict[str, Sequence[object]] = {
        "entry_id": [planted.entry_id, rich],
        "event_id": [goal],
        "notice_id": [notice],
        "share_id": ["clip-0"],
        "day": [MatchDay(site.resources).now.date()],
        "workflow_id": [planted.workflow_ids[1], "ingest"],
        "slug": [planted.slug],
        "feed_id": [planted.feed_id],
        "/settings/{key}": ["instance", "mail"],
        "/events/why/{token}": [links.make_token(Purpose.WHY, 1)],
        "/events/manage/{token}": [links.make_token(Purpose.MANAGE, own)],
        "/events/unsubscribe/{token}": [links.make_token(Purpose.UNSUBSCRIBE, own)],
        "/events/confirm/{token}": [links.make_token(Purpose.CONFIRM, own)],
        "/follows/stop/{token}": [way_links(site.settings).make_token(StoppedWay(user.id, f"account:{user.id}"))],
        "/api/docs/{name}": ["events"],
        "/digest/{name}": [],
        "team_id": [],
    }
    return FullSite(site, planted, values)


async def _fill_match_day(day: MatchDay) -> str:
    await day.fixture(1)
    await day.fixture(2, "Borussia Mönchengladbach", "Wolverhampton Wanderers", status="NS", stage="staging")
    await day.fixture(3, "Brighton", "Leeds", status="FT", stage="completed", home_goals=2, away_goals=2)
    goals = [await day.goal(1, player, minute) for player, minute in (("D. Szoboszlai", 23), ("C. Gakpo", 41))]
    for number in range(4):
        await day.clip(goals[0], f"clip-{number}", film(number % 2 + 1), timestamp_verified=number == 0)
    for attempt in range(1, 4):
        await day.search(goals[0], attempt, found=attempt)
    await day.candidate(goals[0], outcome="not football", reason="Its clock shows minute 75, not 23.")
    await day.note(goals[0], "scorer", "A. Mac Allister", "D. Szoboszlai")
    await day.source("bluesky")
    await day.source("reddit", "It asked for a key.")
    return goals[0]


async def _fill_inbox(site: Site, user_id: int) -> int:
    """A goal with its clip, one that was taken back, and one that was read."""
    database = site.resources.database
    await PersonalFollows(database).follow(user_id, TEAM, "Liverpool", "/footy/search?q=Liverpool")
    await tell(database, *(replace(GOAL, key=f"footy.goal.{number}", path="/footy/matches/1") for number in range(3)))
    picture = "/footy/clips/clip-0.jpg"
    await tell(database, replace(GOAL, key="footy.goal.0", path="/footy/clips/clip-0", picture=picture))
    async with database.unit_of_work() as work:
        await withdraw(work, ["footy.goal.1"])
    lines = (await InboxStore(database).load(user_id)).lines
    await InboxStore(database).mark(user_id, [lines[0].id], read=True)
    return lines[0].id


async def _fill_reader(stand: Newsstand) -> int:
    category = await stand.category("Harbour")
    feeds = [await stand.feed(f"Harbour news {number}", category_id=category) for number in range(6)]
    await stand.failure(feeds[1], "unreachable", "The server did not answer.", 503)
    rich = await stand.entry(feeds[0], "The ferry to the outer islands", RICH)
    for number in range(30):
        await stand.entry(feeds[number % 6], f"Lemons of the week, number {number}")
    for number in range(20):
        await stand.paid(feeds[number % 6], 4000, at=stand.now - timedelta(days=number))
    return rich


async def _fill_activity(work: Work) -> None:
    await work.report_all(
        [
            work.row("ingest", "Ingesting 48 feeds", done=31, total=48, message="fetch 31/48 · distil 12/48"),
            work.row("one", "example.org", parent_workflow_id="ingest", done=3, total=5),
            work.row("bad", "Rebuilding the index", state="failed", error="The disk is full.", total=9),
            *(work.row(f"done-{number}", "Cleaning up", done=6, total=6, state="completed") for number in range(40)),
        ]
    )
