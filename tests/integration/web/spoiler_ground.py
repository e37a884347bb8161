"""One match and three people, who read every address that there is for it and get every message about it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from io import BytesIO
from zipfile import ZipFile

import httpx
from fastapi import FastAPI
from sqlalchemy import select, text

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.clock import utc_now
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.live.messages import Change
from pressbox.core.notices.reading import SHOWN
from pressbox.core.progress.contracts import ProgressState, ProgressUpdate
from pressbox.core.progress.sink import store
from pressbox.delivery.adapters.notice_sender import write_push
from pressbox.delivery.notice_ports import NoticeMessage
from pressbox.delivery.ports import Attempt, OutgoingMessage
from pressbox.footy.contracts.audiences import watchers_of
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.goals import Observation
from pressbox.matchday.watch import build_store
from tests.fakes.notice_sending import Post, Sender
from tests.fakes.reader import Library
from tests.integration.footy.footy_world import AWAY, HOME, World, match, uploaded, video, with_goals
from tests.integration.web.test_protection import every_route
from tests.site import Browser

MATCH, SUBJECT = 1, "footy.fixture.1"
# A scorer, a goal by its id, a score in words or in the fields of an answer, and that a goal was taken back.
TELLING = re.compile(
    r"Zyrkel|Vrabelj|Tjomme|zyrkel|vrabelj|tjomme|91827[345]"
    r"|(?<![\d:.–/])\d–\d(?![\d:–])"
    r"|\"(?:goals|home_score|away_score|home_goals|away_goals)\": ?[1-9]"
    r"|Taken back|[Dd]isallowed"
)
# An endless answer, which is read below; what leaves the instance or signs people out; and pages that are made of the
# program alone, with examples.
NOT_READ = re.compile(
    r"^/api/stream$|^/temporal|/sign-out|/oidc|^/sign-in/|ClientLogin|^/api/docs|openapi|^/styleguide"
)
# Whoever opens an article has looked at what it says.
OPENED = re.compile(r"/entries/\{entry_id\}")
# Before anything is known of the match, these are what everything else is made of.
FIRST_READ = re.compile(r"^/$|^/inbox$|^/api/(inbox|offline|today)|^/footy(/matches/\d+|/teams/\d+)?$|/fixtures/\d+$")


def telling(body: str) -> set[str]:
    """What in these words tells how the match stands. Tags are taken out: a score may be written in three of them."""
    return set(TELLING.findall(body)) | set(TELLING.findall(re.sub(r"<[^>]*>", "", body)))


def written(answer: httpx.Response) -> str:
    """The words of an answer with those of its headers: a file has a name, and a redirection a target."""
    head = "\n".join(answer.headers.get(name, "") for name in ("location", "content-disposition"))
    if answer.headers.get("content-type", "") == "application/zip":
        with ZipFile(BytesIO(answer.content)) as archive:
            body = "\n".join(archive.read(name).decode() for name in archive.namelist())
    else:
        body = answer.text
    return f"{head}\n{body}"


async def pass_minutes(database: Database, minutes: int) -> None:
    """Let all that is stored have happened so much earlier. Triggers would take it for news."""
    columns = text(
        "SELECT format('%I.%I', table_schema, table_name), "
        "string_agg(format('%1$I = %1$I - CAST(\\:by AS interval)', column_name), ', ') "
        "FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) "
        "WHERE table_schema IN ('core', 'footy', 'soonish') AND table_type = 'BASE TABLE' "
        "AND data_type = 'timestamp with time zone' AND is_generated = 'NEVER' GROUP BY 1"
    )
    async with database.unit_of_work() as work:
        await work.session.execute(text("SET LOCAL session_replication_role = replica"))
        for table, changes in (await work.session.execute(columns)).tuples().all():
            await work.session.execute(text(f"UPDATE {table} SET {changes}"), {"by": timedelta(minutes=minutes)})


@dataclass
class Listener(Sender):
    """Keeps whole messages by the person to whose account, chat or browser they went."""

    heard: dict[str, list[str]] = field(default_factory=dict)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        attempt = await super().send(channel_key, message)
        way, person = channel_key.split(":")
        assert isinstance(message, NoticeMessage)
        said = repr(write_push(message)) if way == "push" else "\n".join((message.title, message.body, *message.footer))
        self.heard.setdefault(person, []).append(said)
        return attempt


class Ground:
    def __init__(self, app: FastAPI, resources: Resources, people: tuple[Browser, Browser, Browser]) -> None:
        self.app, self.resources, self.database = app, resources, resources.database
        self.ada, self.ben, self.cleo = people
        self.world, self.post = World(self.database), Post(self.database)
        self.share_id = ""
        self.entries, self.feeds = ["1"], ["1"]
        self.kickoff = utc_now() + timedelta(minutes=5)
        # The routes that told somebody something, who may know all of it.
        self.told_by: set[str] = set()
        # Those that want a password of an application, whoever asks.
        self.refused: set[str] = set()
        # By the number of a person what was sent to them.
        self._sent: dict[str, list[str]] = {}

    async def arrange(self) -> None:
        """The match is known and has not begun; it is an event, and all three get messages in three ways."""
        unknown: dict[str, object] = {"elapsed": None, "home_goals": None, "away_goals": None}
        coming = match(MATCH, kickoff=self.kickoff, status=FixtureStatus.NOT_STARTED, **unknown)
        self.world.now = utc_now()
        await self.world.ingest(coming)
        matchday = build_store(self.resources)
        await matchday.keep(await matchday.find_all(0, 10))
        for person in (self.ada, self.ben, self.cleo):
            await self.post.choose(
                person.user_id, *(f"{way}:{person.user_id}" for way in ("account", "channel", "push"))
            )

    async def kick_off(self) -> None:
        begun = match(MATCH, kickoff=self.kickoff)
        await self.world.polls.record_staging([begun], {}, utc_now())
        await self.world.polls.activate("monitor-0", self.world.policy, utc_now())
        await self.answer()

    async def answer(self, *goals: Observation, status: FixtureStatus = FixtureStatus.SECOND_HALF) -> None:
        """Three polls say this, a moment ago."""
        self.world.now = utc_now() - timedelta(minutes=2)
        stated: dict[str, object] = {"status": status, "kickoff": self.kickoff, "elapsed": 88}
        await self.world.poll(with_goals(MATCH, *goals, **stated), times=3)

    async def pass_minutes(self, minutes: int) -> None:
        await pass_minutes(self.database, minutes)
        self.kickoff -= timedelta(minutes=minutes)

    async def show_clip(self) -> None:
        event_id = f"{MATCH}_40_918273_Goal_1"
        [candidate] = await self.world.found(event_id, 1, "zyrkel-scores-1-0")
        file = uploaded(video(candidate, timestamp_verified=True))
        await self.world.clips.add(event_id, file, None, self.world.now)
        for key in (file.object_key, file.poster_key):
            await self.resources.objects.put(key, b"film")
        [clip] = (await self.world.reader.load_goal(event_id)).clips
        self.share_id = clip.share_id

    async def write_about_it(self, title: str) -> None:
        """A newspaper that all three read has it in a headline."""
        library, seen = Library(self.resources), utc_now() - timedelta(minutes=3)
        feed = await library.feed(*(person.user_id for person in (self.ada, self.ben, self.cleo)), title="The Herald")
        entry = await library.entry(feed, title, at=seen, seen=seen, summary=title, body=f"<p>{title}</p>")
        self.entries, self.feeds = [str(entry)], [str(feed)]

    async def work_on_it(self, name: str, player_id: int) -> None:
        """The search for clips, whose name and title tell who scored."""
        now = utc_now()
        update = ProgressUpdate(
            workflow_id=f"twitter-liverpool-{name}-23min-{MATCH}_40_{player_id}_Goal_1",
            run_id=f"run-{name}",
            workflow_type="TwitterWorkflow",
            task_queue="footy",
            parent_workflow_id=None,
            state=ProgressState.FAILED,
            title=f"Searching for clips of {name}’s goal (23′)",
            done=1,
            total=10,
            message="",
            error="",
            detail={},
            audience=watchers_of(MATCH),
            started_at=now,
            updated_at=now,
        )
        async with self.database.unit_of_work() as work:
            await store(work, [update])

    async def addresses(self, person: Browser) -> list[tuple[str, str]]:
        """Every route, and its address with the things of this match in it, and searches for its teams and scorers."""
        async with self.database.unit_of_work() as work:
            told = select(SHOWN.c.notice_id).where(SHOWN.c.user_id == person.user_id)
            notices = [str(number) for number in await work.session.scalars(told)]
            works = list(await work.session.scalars(text("SELECT workflow_id FROM core.workflow_progress")))
            slugs = list(await work.session.scalars(text("SELECT slug FROM soonish.events")))
        known: dict[str, list[str]] = {
            "fixture_id": [str(MATCH)],
            "event_id": [f"{MATCH}_{team}_Goal_1" for team in ("40_918273", "42_918274", "40_918275")],
            "share_id": [self.share_id or "none"],
            "day": sorted({str(self.kickoff.date()), str(utc_now().date())}),
            "workflow_id": works or ["none"],
            "notice_id": notices or ["1"],
            "user_id": [str(person.user_id)],
            "team_id": [str(HOME.id), str(AWAY.id)],
            "subject": [SUBJECT],
            "slug": slugs,
            "entry_id": self.entries,
            "feed_id": self.feeds,
        }
        return list(dict.fromkeys(_fill(known)))

    async def read(self, person: Browser) -> dict[str, set[str]]:
        """Everything but what is not for browsers. By address what it tells this person of the match."""
        asked = [one for one in await self.addresses(person) if one[0] not in self.refused]
        assert len(asked) > 100
        return await self._ask(person, asked)

    async def read_again(self, person: Browser) -> dict[str, set[str]]:
        """The same at the routes that have told anybody anything so far."""
        return await self._ask(person, [one for one in await self.addresses(person) if one[0] in self.told_by])

    async def read_first(self, person: Browser) -> dict[str, set[str]]:
        return await self._ask(person, [one for one in await self.addresses(person) if FIRST_READ.search(one[1])])

    async def _ask(self, person: Browser, asked: list[tuple[str, str]]) -> dict[str, set[str]]:
        told: dict[str, set[str]] = {}
        for route, path in asked:
            if OPENED.search(route):
                continue
            answer = await person.get(path)
            assert answer.status_code not in (429, 500), (path, answer.text)
            if answer.status_code == 401:
                self.refused.add(route)
            # Whoever asks for a goal by its id knows it.
            words = telling(written(answer)) - telling(path)
            if words:
                told[path] = words
                self.told_by.add(route)
        heard = {"stream": await self._hear(person), "messages": await self._receive(person)}
        return told | {way: words for way, words in heard.items() if words}

    async def _hear(self, person: Browser) -> set[str]:
        """Everything that the stream carries to this person about all that happened."""
        feed: ChangeFeed = self.app.state.feed
        whole = {kind for kind, topic in feed.topics.items() if not topic.by_name}
        viewer = Viewer(person.user_id, True, self.app.state.audiences)
        async with self.database.unit_of_work() as work:
            rows = await work.session.scalars(select(ChangeRow).where(ChangeRow.kind.in_(whole)).order_by(ChangeRow.id))
            changes = [Change(row.id, row.kind, row.key) for row in rows]
        heard: set[str] = set()
        async for messages in feed.load(changes, viewer):
            for message in messages:
                heard |= telling(message.wire.decode())
        return heard

    async def _receive(self, person: Browser) -> set[str]:
        """What has gone to this person's mailbox, chat and browser so far."""
        plain = self.post.sender()
        listener = Listener(plain.place, plain.book, heard=self._sent)
        await self.post.start(listener)
        return {word for message in self._sent.get(str(person.user_id), ()) for word in telling(message)}


def _fill(known: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    for method, route in every_route():
        if method != "GET" or NOT_READ.search(route):
            continue
        filled = [route]
        for name in re.findall(r"\{([^}:]+)[^}]*\}", route):
            pattern = re.compile(r"\{" + name + r"[^}]*\}")
            filled = [pattern.sub(value, one) for one in filled for value in known.get(name, ["1"])]
        yield from ((route, one) for one in filled)
        if "search" in route or "find" in route or route in ("/footy/follow/found", "/api/footy/directory"):
            yield from ((route, f"{one}?q={word}") for one in filled for word in ("Liverpool", "Zyrkel", "goal"))
        if route == "/api/footy/fixtures":
            yield from ((route, f"{route}?date={day}") for day in known["day"])
        if route == "/footy/matches/{fixture_id}/live":
            yield from ((route, f"{filled[0]}?goal={event}") for event in known["event_id"])
