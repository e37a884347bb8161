"""The worker is killed before and after the effect of every activity, while a match is played and clips of it come.

Afterwards there are the same goals, and of each the same scenes in the same copies, as when nothing happened.
"""

import asyncio
import random
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import text
from temporalio.client import Client, WorkflowFailureError

from pressbox.core.contracts import Contract
from pressbox.core.db.database import Database
from pressbox.core.environment import child_environment
from pressbox.core.temporal.faults import Action, Fault, Moment, every_fault, list_planted, plant
from pressbox.demo.clips.spec import Scene
from pressbox.demo.football_day.clip_files import make_clip_files
from pressbox.demo.football_day.posts import Fate, PlannedPost, plan_posts
from pressbox.demo.football_day.watcher import post_id
from pressbox.demo.match_day.days import ScriptedDay
from pressbox.demo.match_day.matches import LEAGUE_ID, ScorerReport, ScriptedGoal, ScriptedMatch
from pressbox.demo.match_day.records import RecordedMatch, find_scorers, load_matches
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.fixtures_api import DEMO_KEY, FixturesApi
from pressbox.demo.simulators.social_posts import SocialPost
from pressbox.demo.simulators.social_site import SocialSite
from pressbox.footy.contracts.ingest import IngestWorkflowInput
from pressbox.footy.contracts.monitor import MonitorWorkflowInput
from pressbox.footy.contracts.upkeep import UpkeepWorkflowInput
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ids import CLIPS_QUEUE, INGEST, MEDIA_QUEUE, MONITOR, QUEUE
from tests.architecture.test_registration import ACTIVITIES
from tests.conftest import TEST_KEY, Parts
from tests.databases import Databases
from tests.patience import patience

SPEED = 360.0
POLICY = FootyPolicy(
    days=2,
    lookahead_days=2,
    # In earnest this is for what got stuck; being killed again and again is not being stuck.
    completion_deadline=timedelta(days=7),
    downloads_wanted=15,
).at_speed(SPEED).model_copy(
    update={"attempt_interval": timedelta(seconds=0.7), "upload_idle": timedelta(seconds=1.5)}
)  # fmt: skip
BETWEEN_POLLS = 0.3
BETWEEN_LOOKS = 0.3
# While the site is slow, attempts pass slowly: there are still some when the better copy is posted.
SLOW_SECONDS = 6.0
SETTLE_SECONDS = patience(240)
# Chooses what is to be seen: scenes whose clocks the judge reads, in disguises that fingerprints see through.
FILMED_AS = 9_000_002
UNNAMED_MINUTES, WRONG_MINUTES = 12.0, 8.0

# Only when all files of a download or batch fail together, or a search that ended begins again: that takes a refusal
# and not a death.
NEVER_CALLED = frozenset(
    {
        "bump_video_popularity",
        "check_event_exists",
        "cleanup_download_temp",
        "cleanup_individual_files",
        "cleanup_upload_temp",
        "deduplicate_by_md5",
        "deduplicate_videos",
        "download_single_video",
        "execute_twitter_search",
        "fetch_event_data",
        "finish_search",
        "generate_video_hash",
        "get_download_workflow_count",
        "get_twitter_search_data",
        "queue_videos_for_upload",
        "recalculate_video_ranks",
        "register_download_workflow",
        "replace_s3_video",
        "save_discovered_videos",
        "save_video_objects",
        "set_monitor_complete",
        "settle_candidates",
        "update_video_in_place",
        "upload_single_video",
        "validate_video_is_soccer",
    }
)
# What every poll calls once a match is followed.
OF_EVERY_POLL = frozenset(
    {
        "register_monitor_workflow",
        "fetch_active_fixtures",
        "store_and_compare",
        "process_fixture_events",
        "sync_fixture_metadata",
        "complete_fixture_if_ready",
        "notify_frontend_refresh",
    }
)

_STAGE = text("SELECT stage FROM footy.fixtures WHERE id = :fixture")
# The last download completes a goal, a moment before its search notes that there are enough.
_OPEN_GOALS = text("""
    SELECT count(*) FROM footy.goals
    WHERE fixture_id = :fixture AND (completed_at IS NULL OR search_ended IS NULL)
""")
_SHOWN = text("""
    SELECT goal.elapsed, goal.extra, goal.team_name, goal.player_name, goal.confirmed_at IS NOT NULL,
        goal.removed_at IS NOT NULL, goal.search_ended, goal.completion_reason, clip.source_url
    FROM footy.goals AS goal LEFT JOIN footy.clips AS clip ON clip.event_id = goal.event_id
    WHERE goal.fixture_id = :fixture
""")
_TRAIL = text("""
    SELECT goal.elapsed, candidate.video_page_url, candidate.outcome, candidate.reason, candidate.chosen_in
    FROM footy.clip_candidates AS candidate JOIN footy.goals AS goal ON goal.event_id = candidate.event_id
    ORDER BY candidate.id
""")


class Known(NamedTuple):
    """A goal as it is known in the end."""

    elapsed: int
    extra: int | None
    team: str
    player: str
    confirmed: bool
    removed: bool
    search_ended: str | None
    completion: str


@dataclass(frozen=True)
class Shown:
    """By scene which post is shown: its place in the plan."""

    goal: Known
    scenes: frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Plan:
    """What people post, with files that are made once: each run has the same ones at the same places."""

    posts: Sequence[PlannedPost]
    files: Sequence[bytes]

    def place(self, identity: str) -> int:
        """The same file at two places counts as the first of them."""
        place = next(number for number, post in enumerate(self.posts) if post.id == identity)
        return self.files.index(self.files[place])

    def best(self, goal_minute: int) -> frozenset[tuple[str, int]]:
        """By the script: of each scene the largest file."""
        best: dict[str, int] = {}
        for place, post in enumerate(self.posts):
            if post.fate is Fate.SCENE and post.goal.elapsed == goal_minute:
                known = best.get(post.scene)
                if known is None or len(self.files[place]) > len(self.files[known]):
                    best[post.scene] = place
        return frozenset(best.items())


def record() -> RecordedMatch:
    """Two goals by two players of one team, before half-time."""
    return next(one for one in load_matches() if one.year == 2014 and [s.name for s in one.sides] == ["Spain", "Chile"])


def match(fixture_id: int, kickoff: datetime) -> ScriptedMatch:
    """The first goal comes without a scorer, the second one with the wrong one."""
    played = record()
    plain = ScriptedMatch(fixture_id, played, kickoff)
    goals = []
    for goal, minutes in zip(played.goals, (UNNAMED_MINUTES, WRONG_MINUTES), strict=True):
        wall = plain.timeline.wall(goal.elapsed, goal.extra)
        scorers = {one.scorer for one in played.goals}
        mate = next(one for one in find_scorers(played.sides[goal.side].id) if one not in scorers)
        first = None if minutes == UNNAMED_MINUTES else mate
        told = (ScorerReport(wall, first), ScorerReport(wall + minutes, goal.scorer))
        goals.append(ScriptedGoal(goal.elapsed, goal.extra, goal.side, goal.detail, told))
    return replace(plain, goals=tuple(goals))


def day(fixture_id: int, kickoff: datetime) -> ScriptedDay:
    return ScriptedDay((match(fixture_id, kickoff),), kickoff, SPEED)


def posts_of(played: ScriptedDay) -> list[PlannedPost]:
    """Those of the demo, as soon as the goal falls, and the replay of the first goal once more."""
    first = played.matches[0]
    falls = {goal.elapsed: first.kickoff + timedelta(minutes=goal.reports[0].wall) / SPEED for goal in first.goals}
    posts = sorted(plan_posts(played), key=lambda post: (post.goal.elapsed, post.scene, post.posted_at))
    posts = [replace(_surely_judged(post), posted_at=falls[post.goal.elapsed]) for post in posts]
    replay = next(post for post in posts if post.scene == "replay")
    return [*posts, replace(replay, id=str(int(replay.id) + 1).zfill(16))]


def _surely_judged(post: PlannedPost) -> PlannedPost:
    """How well the judge tells football from studios is measured elsewhere; nothing but a fade is no football."""
    if post.fate is not Fate.NOT_FOOTBALL or post.clip is None:
        return post
    return replace(post, clip=replace(post.clip, scene=Scene.FADE))


async def filmed(posts: Sequence[PlannedPost]) -> list[bytes]:
    files = await make_clip_files(posts)
    return [files[post.id] for post in posts]


@pytest.fixture(scope="module")
async def films() -> list[bytes]:
    return await filmed(posts_of(day(FILMED_AS, datetime.now(UTC))))


def told(post: PlannedPost) -> SocialPost:
    """Longer ones are chosen first: so the same file comes twice in one attempt."""
    longer = {"replay": 0.9, "live": 0.2 if post.disguise else 0.1}.get(post.scene, 0.0)
    longer = 0.5 if post.fate is Fate.NOT_FOOTBALL else longer
    return SocialPost(id=post.id, text=post.text, posted_at=post.posted_at, duration_seconds=4.0 + longer)


class Run:
    """One match, from its first being heard of to the archive."""

    def __init__(self, database: Database, temporal: Client, api: FixturesApi, site: SocialSite, faults: Path) -> None:
        self.fixture_id = random.randrange(10**6, 10**8) * 10 + 1
        self._database = database
        self._temporal = temporal
        self._api = api
        self._site = site
        self._faults = faults

    async def play(self, films: Sequence[bytes]) -> Plan:
        self._api.day = day(self.fixture_id, datetime.now(UTC) + timedelta(hours=2))
        polling = asyncio.create_task(self._keep_polling())
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                return await self._play(films)
        except TimeoutError as error:
            raise AssertionError(f"Never over. Not struck: {self._left()}. Clips: {await self.trail()}") from error
        finally:
            polling.cancel()
            with suppress(asyncio.CancelledError):
                await polling

    async def _play(self, films: Sequence[bytes]) -> Plan:
        await asyncio.gather(
            self._until_done(INGEST, IngestWorkflowInput(policy=POLICY)),
            self._until_done(INGEST, IngestWorkflowInput(fixture_ids=(self.fixture_id,), policy=POLICY)),
            self._until_done("UpkeepWorkflow", UpkeepWorkflowInput(policy=POLICY)),
        )
        # Near enough to be followed; the deaths of the polls come before the match, which waits for nobody.
        self._api.day = day(self.fixture_id, datetime.now(UTC) + timedelta(minutes=20))
        while await self._stage() != "active" or self._left() & OF_EVERY_POLL:
            await asyncio.sleep(BETWEEN_LOOKS)
        kicked_off = day(self.fixture_id, datetime.now(UTC) + timedelta(seconds=1))
        plan = Plan(posts_of(kicked_off), films)
        self._api.day = kicked_off
        await self._follow(plan)
        return plan

    async def _follow(self, plan: Plan) -> None:
        """One copy is kept back until another one of its scene is shown, which it then replaces."""
        minute = plan.posts[-1].goal.elapsed
        held = dict(plan.best(minute))["live"]
        for place, post in enumerate(plan.posts):
            if place != held:
                self._site.post(told(post), plan.files[place])
        while not await self._shows_live(plan, minute):
            if await self._candidates(minute):
                self._site.tell("x-api", Kind.SLOW, seconds=SLOW_SECONDS)
            await asyncio.sleep(BETWEEN_LOOKS)
        late = replace(plan.posts[held], posted_at=datetime.now(UTC))
        self._site.post(told(late), plan.files[held])
        self._site.tell("x-api", Kind.GOOD)
        while await self._stage() != "completed" or await self._open_goals() or self._left() - NEVER_CALLED:
            await asyncio.sleep(BETWEEN_LOOKS)

    async def shown(self, plan: Plan) -> set[Shown]:
        async with self._database.unit_of_work() as work:
            rows = [tuple(row) for row in await work.session.execute(_SHOWN, {"fixture": self.fixture_id})]
        scenes: dict[Known, set[tuple[str, int]]] = {}
        for *goal, url in rows:
            known = scenes.setdefault(Known(*goal), set())
            if url:
                place = plan.place(post_id(url))
                known.add((plan.posts[place].scene, place))
        return {Shown(goal, frozenset(found)) for goal, found in scenes.items()}

    async def trail(self) -> list[tuple[object, ...]]:
        async with self._database.unit_of_work() as work:
            return [tuple(row) for row in await work.session.execute(_TRAIL)]

    async def until_nothing_runs(self) -> None:
        """What still runs would go on in the next run, on a database that knows nothing of it."""
        async with asyncio.timeout(SETTLE_SECONDS):
            for _ in range(2):
                while await running(self._temporal):
                    await asyncio.sleep(BETWEEN_LOOKS)
                # Lists of workflows lag behind.
                await asyncio.sleep(1)

    async def _keep_polling(self) -> None:
        """One after the other, as the schedule has it. A poll that fails is made good by the next."""
        while True:
            with suppress(WorkflowFailureError):
                await self._do(MONITOR, MonitorWorkflowInput(policy=POLICY))
            await asyncio.sleep(BETWEEN_POLLS)

    async def _until_done(self, workflow: str, input: Contract) -> None:
        """As often as it takes: what is done daily or hourly gives up, and is done again by the next."""
        while True:
            with suppress(WorkflowFailureError):
                return await self._do(workflow, input)

    async def _do(self, workflow: str, input: Contract) -> None:
        await self._temporal.execute_workflow(
            workflow, input, id=f"{workflow}-{secrets.token_hex(6)}", task_queue=QUEUE
        )

    def _left(self) -> set[str]:
        return {fault.activity for fault in list_planted(self._faults)}

    async def _stage(self) -> str | None:
        async with self._database.unit_of_work() as work:
            stage: str | None = await work.session.scalar(_STAGE, {"fixture": self.fixture_id})
        return stage

    async def _open_goals(self) -> int:
        async with self._database.unit_of_work() as work:
            return int(await work.session.scalar(_OPEN_GOALS, {"fixture": self.fixture_id}) or 0)

    async def _shows_live(self, plan: Plan, minute: int) -> bool:
        found = {scene for each in await self.shown(plan) if each.goal.elapsed == minute for scene, _ in each.scenes}
        return "live" in found

    async def _candidates(self, minute: int) -> bool:
        return any(row[0] == minute for row in await self.trail())


async def running(temporal: Client) -> list[str]:
    query = f"TaskQueue = '{QUEUE}' AND ExecutionStatus = 'Running'"
    return [found.id async for found in temporal.list_workflows(query)]


@contextmanager
def worker(environment: Mapping[str, str]) -> Iterator[None]:
    # A workflow whose worker dies while it decides waits for up to a minute: that is another test's matter.
    queues = (f"{QUEUE}:workflows", f"{QUEUE}:activities", f"{QUEUE}:activities", CLIPS_QUEUE, MEDIA_QUEUE)
    command = [sys.executable, "-m", "tests.e2e.forking_worker", *queues]
    process = subprocess.Popen(command, env=child_environment(**environment), stdout=subprocess.DEVNULL)
    try:
        yield
        assert process.poll() is None, "the workers run, or are being started again"
    finally:
        process.terminate()
        process.wait(patience(20))


@asynccontextmanager
async def staged(parts: Parts, databases: Databases, temporal: Client, folder: Path) -> AsyncIterator[Run]:
    """A database of its own: what an earlier run learned of the teams is asked for again."""
    name = databases.lend()
    database = Database(databases.url(name))
    async with FixturesApi() as api, SocialSite() as site:
        environment = {
            "PRESSBOX_HOME": str(folder / "home"),
            "PRESSBOX_DATABASE_URL": databases.url(name),
            "PRESSBOX_TEMPORAL_ADDRESS": parts.temporal_address,
            "PRESSBOX_SECRET_KEY": TEST_KEY.get_secret_value(),
            "PRESSBOX_HTTP_ALLOW": f"127.0.0.1:{api.port},127.0.0.1:{site.port}",
            "PRESSBOX_TESTING_FAULTS_DIRECTORY": str(folder / "faults"),
            "PRESSBOX_WORKER_HEALTH_PORT": "0",
            "PRESSBOX_LOG_LEVEL": "error",
            "PRESSBOX_FOOTY_API_URL": api.url,
            "PRESSBOX_FOOTY_API_KEY": DEMO_KEY,
            "PRESSBOX_FOOTY_LEAGUES": str(LEAGUE_ID),
            "PRESSBOX_FOOTY_SOURCES": "x-api",
            "PRESSBOX_FOOTY_X_API_URL": site.face_url("x-api"),
            "PRESSBOX_FOOTY_X_API_TOKEN": "a token",
            "PRESSBOX_FOOTY_ALIASES": "clubs",
            "PRESSBOX_FOOTY_SPEED": f"{SPEED:g}",
        }
        with worker(environment):
            yield Run(database, temporal, api, site, folder / "faults")
    await database.close()
    databases.take_back(name)


@pytest.mark.slow
@pytest.mark.limit(600)
async def test_killed_before_and_after_every_effect_a_match_has_the_same_goals_and_the_same_best_copies(
    parts: Parts, databases: Databases, temporal: Client, tmp_path: Path, films: list[bytes]
) -> None:
    for workflow_id in await running(temporal):
        await temporal.get_workflow_handle(workflow_id).terminate("left by another test")
    async with staged(parts, databases, temporal, tmp_path / "undisturbed") as run:
        plan = await run.play(films)
        undisturbed, trail = await run.shown(plan), await run.trail()
        await run.until_nothing_runs()
    expected = {(goal.elapsed, goal.scorer.name, plan.best(goal.elapsed)) for goal in record().goals}
    assert {(each.goal.elapsed, each.goal.player, each.scenes) for each in undisturbed} == expected, trail

    faults = tmp_path / "killed" / "faults"
    for fault in every_fault(
        [name for queue in (QUEUE, CLIPS_QUEUE, MEDIA_QUEUE) for name in ACTIVITIES[queue]], Action.KILL
    ):
        plant(faults, fault)
    for moment in Moment:
        # A search that takes its time to say that it runs is asked for by a poll.
        plant(faults, Fault("search_once", moment, Action.HANG))
    async with staged(parts, databases, temporal, tmp_path / "killed") as run:
        plan = await run.play(films)
        killed, trail = await run.shown(plan), await run.trail()
    assert killed == undisturbed, trail
    assert {fault.activity for fault in list_planted(faults)} == NEVER_CALLED
