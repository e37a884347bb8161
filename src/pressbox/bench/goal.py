"""`pressbox bench goal`: one goal to its followers: what it costs, and when it is where.

Every follower has a phone. One of them, who moved in last, also has mail, a chat and two open pages.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus

import httpx
from sqlalchemy import text

from pressbox.bench.cost.meter import count_histories, count_statements
from pressbox.bench.cost.stage import Stage, open_stage
from pressbox.bench.goal_web import running_web
from pressbox.bench.report import Figure, Report, Say, describe_machine
from pressbox.core.accounts.models import Scope
from pressbox.core.accounts.service import AccountService
from pressbox.core.notices.publish import Notice, publish, publish_to
from pressbox.core.notices.ways import account_way, add_ways, channel_way
from pressbox.delivery.manifest import APP as DELIVERY
from pressbox.delivery.push.store import PushStore
from pressbox.delivery.push.subscription import check_target
from pressbox.delivery.service.looking import keep_looking
from pressbox.delivery.settings import SmtpSecurity
from pressbox.delivery.wiring import vault
from pressbox.demo.simulators.http_service import Answer, Request
from pressbox.demo.simulators.mail_sink import MailSink
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.demo.simulators.push_service import Pushed, PushService
from pressbox.soonish.settings import SoonishSettings

FOLLOWERS = (1, 1_000, 10_000)
AIM_SECONDS = 5.0
LONGEST_SECONDS = 900.0
BETWEEN_LOOKS = 0.02
OPEN_SECONDS = 60.0
SUBSCRIBED_AT_ONCE = 20
PAGES = 2
TEAM = "footy.team.40"
WAYS = ("live", "inbox", "first phone", "own phone", "mail", "chat", "last phone")

_FOLLOWERS = text("""
    WITH people AS (
        INSERT INTO core.users (email, password_hash, role)
        SELECT concat('follower-', n, '@example.org'), 'unusable', 'member' FROM generate_series(1, :people) AS n
        RETURNING id
    )
    INSERT INTO core.follows (user_id, subject, name, path) SELECT id, :team, 'Liverpool', '/footy' FROM people
    RETURNING user_id
""")
_CHANNEL = text("""
    INSERT INTO soonish.channels (user_id, name, encrypted_url, key_id, kind, target)
    VALUES (:user_id, 'Chat', :encrypted, :key_id, 'json', :target) RETURNING id
""")
_LEFT = text("SELECT count(*) FROM core.notice_sends WHERE state = 'pending'")


class CountingPushService(PushService):
    """Takes what comes without opening it: it works in this process, and its own work is not to be measured."""

    async def answer(self, request: Request) -> Answer:
        self.received.append(Pushed(self.key_of(request), {}, b"", {}))
        return Answer(HTTPStatus.CREATED)


@dataclass(frozen=True)
class Outside:
    """Where messages arrive."""

    mail: MailSink
    chat: NotificationTarget
    push: PushService


@dataclass(frozen=True)
class Person:
    """The one whose messages are timed."""

    user_id: int
    phone: str
    token: str


@dataclass(frozen=True)
class Cost:
    """`seconds` are from the commit that confirms the goal, by way."""

    followers: int
    workflows: int
    events: int
    published: int
    sent: int
    requests: int
    seconds: dict[str, float]


def run_goal(say: Say, followers: Sequence[int] = FOLLOWERS) -> Report:
    """Takes some minutes at 10,000: a phone is subscribed for each follower."""
    machine = describe_machine()
    figures: list[Figure] = []
    for number in followers:
        say(f"A goal for {number:,}")
        figures += list_figures(asyncio.run(measure(number)))
    return Report(name="goal", measured_at=datetime.now(UTC), machine=machine, figures=tuple(figures))


async def measure(followers: int) -> Cost:
    async with AsyncExitStack() as exits:
        outside = Outside(
            await exits.enter_async_context(MailSink()),
            await exits.enter_async_context(NotificationTarget()),
            await exits.enter_async_context(CountingPushService()),
        )
        sending = SoonishSettings(
            smtp_host="127.0.0.1",
            smtp_port=outside.mail.smtp_port,
            smtp_from="bench@example.org",
            smtp_security=SmtpSecurity.NONE,
        )
        stage = await exits.enter_async_context(open_stage((DELIVERY,), sending))
        person = await _move_in(stage, outside, followers)
        web_url = exits.enter_context(running_web(stage.resources))
        looking = asyncio.create_task(keep_looking(stage.resources, vault(stage.resources.settings).reveal))
        try:
            await _warm_up(stage, outside, person)
            return await _measure(stage, outside, followers, person, web_url)
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)


async def _move_in(stage: Stage, outside: Outside, followers: int) -> Person:
    database, settings = stage.resources.database, stage.resources.settings
    async with database.unit_of_work() as work:
        ids = sorted(await work.session.scalars(_FOLLOWERS, {"people": followers, "team": TEAM}))
        sealed = vault(settings).seal(outside.chat.apprise_url("own"), "json", "JSON")
        values = {"encrypted": sealed.encrypted, "key_id": sealed.key_id, "target": sealed.target}
        channel = await work.session.scalar(_CHANNEL, {"user_id": ids[-1], **values})
        await add_ways(work.session, ids[-1], [account_way(ids[-1]), channel_way(channel)])
    store, places = PushStore(database, settings), asyncio.Semaphore(SUBSCRIBED_AT_ONCE)

    async def subscribe(user_id: int) -> None:
        said = outside.push.add_browser(f"phone-{user_id}").subscription()
        target = check_target(said["endpoint"], said["keys"]["p256dh"], said["keys"]["auth"])
        async with places:
            await store.subscribe(user_id, target, name="Phone", language="en")

    await asyncio.gather(*(subscribe(user_id) for user_id in ids))
    token = await AccountService(database, settings).add_token(ids[-1], "bench", [Scope.READ])
    return Person(ids[-1], f"phone-{ids[-1]}", token.secret)


async def _warm_up(stage: Stage, outside: Outside, person: Person) -> None:
    """One goal before, for one, so that first connections and the programs that write to chats are not counted."""
    async with stage.resources.database.unit_of_work() as work:
        await publish_to(work, replace(_goal("bench.goal.before"), followed=()), [person.user_id])
    await _until_all_left(stage)
    for place in (outside.mail, outside.chat, outside.push):
        place.forget()


async def _publish(stage: Stage, key: str) -> float:
    """Returns when it was committed."""
    async with stage.resources.database.unit_of_work() as work:
        await publish(work, [_goal(key)])
    return time.perf_counter()


def _goal(key: str) -> Notice:
    return Notice(
        key=key,
        application="footy",
        kind="goal",
        subject="footy.fixture.9",
        heading="Liverpool – Arsenal",
        followed=(TEAM,),
        title="Goal for Liverpool by Salah, 23′",
        detail="Liverpool 1–0 Arsenal",
        path="/footy/matches/9",
        occurred_at=datetime.now(UTC),
        spoiler=True,
        covered_title="A goal in Liverpool – Arsenal",
    )


async def _until_all_left(stage: Stage) -> None:
    async with asyncio.timeout(LONGEST_SECONDS):
        while True:
            async with stage.resources.database.unit_of_work() as work:
                if not await work.session.scalar(_LEFT):
                    break
            await asyncio.sleep(1.0)
    await stage.until_nothing_runs()


async def _measure(stage: Stage, outside: Outside, followers: int, person: Person, web_url: str) -> Cost:
    temporal, database = stage.resources.temporal, stage.resources.database
    before = await count_histories(temporal)
    async with _open_pages(web_url, person) as heard:
        with count_statements(database) as publishing:
            committed = await _publish(stage, "bench.goal")
        with count_statements(database) as sending:
            arrivals = asyncio.create_task(_watch(outside, person, followers))
            async with asyncio.timeout(LONGEST_SECONDS):
                live, inbox = await heard
                seconds = await arrivals
            # Until the last result is written.
            await stage.until_nothing_runs()
        await _until_all_left(stage)
    after = await count_histories(temporal)
    moments = {**seconds, "live": live, "inbox": inbox}
    return Cost(
        followers=followers,
        workflows=after.workflows - before.workflows,
        events=after.events - before.events,
        published=publishing.number,
        sent=sending.number,
        requests=len(outside.push.received),
        seconds={way: max(0.0, moments[way] - committed) for way in WAYS},
    )


async def _watch(outside: Outside, person: Person, followers: int) -> dict[str, float]:
    """When each arrived; looks often, and finds it up to one look late."""
    found: dict[str, float] = {}
    while len(found) < 5:
        pushed = outside.push.received
        arrived = {
            "first phone": bool(pushed),
            "own phone": any(one.key == person.phone for one in pushed[-followers:]),
            "last phone": len(pushed) >= followers,
            "mail": bool(outside.mail.received),
            "chat": bool(outside.chat.received),
        }
        found |= {way: time.perf_counter() for way, there in arrived.items() if there and way not in found}
        await asyncio.sleep(BETWEEN_LOOKS)
    return found


@asynccontextmanager
async def _open_pages(web_url: str, person: Person) -> AsyncIterator["asyncio.Task[tuple[float, float]]"]:
    """Pages that are open: when the last one heard of it, and when it could show the new line."""
    headers = {"Authorization": f"Bearer {person.token}"}
    async with httpx.AsyncClient(base_url=web_url, headers=headers, trust_env=False, timeout=60.0) as client:
        # The first request of a process loads what the others find.
        (await client.get("/api/inbox")).raise_for_status()
        ready = [asyncio.Event() for _ in range(PAGES)]
        pages = asyncio.create_task(_hear(client, ready))
        async with asyncio.timeout(OPEN_SECONDS):
            for one in ready:
                await one.wait()
        try:
            yield pages
        finally:
            pages.cancel()
            await asyncio.gather(pages, return_exceptions=True)


async def _hear(client: httpx.AsyncClient, ready: Sequence[asyncio.Event]) -> tuple[float, float]:
    heard = max(await asyncio.gather(*(_listen(client, one) for one in ready)))
    lines = (await client.get("/api/inbox")).raise_for_status().json()["notices"]
    assert json.dumps(lines).count('"kind": "goal"') >= 2, "the goal before, and this one"
    return heard, time.perf_counter()


async def _listen(client: httpx.AsyncClient, ready: asyncio.Event) -> float:
    async with client.stream("GET", "/api/stream", params={"topics": "notice"}) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            if line.startswith("event: hello"):
                ready.set()
            elif line.startswith("event: change"):
                return time.perf_counter()
    raise AssertionError("The stream ended before the goal.")


def list_figures(cost: Cost) -> tuple[Figure, ...]:
    name = f"followers: {cost.followers:,}"
    per_follower = cost.sent / cost.followers
    return (
        Figure(name=name, value=cost.events, unit="events", note=f"{cost.workflows} runs of a workflow"),
        Figure(name="  statements to publish", value=cost.published, unit="statements"),
        Figure(
            name="  statements to send", value=cost.sent, unit="statements", note=f"{per_follower:.3f} per follower"
        ),
        Figure(name="  requests to the push service", value=cost.requests, unit="requests"),
        *(
            Figure(
                name=f"  {way}",
                value=cost.seconds[way],
                unit="s",
                # How long the last of many takes depends on their number; one person's own ways do not.
                aim=AIM_SECONDS if way != "last phone" or cost.followers == 1 else None,
                note="after the commit that confirms it" if way == WAYS[0] else "",
            )
            for way in WAYS
        ),
    )
