"""A small match day on a real database: polls by the real rules, answered by whatever a test says."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.spoilers.choice import SEES_ALL
from pressbox.footy.adapters.candidate_store import SqlCandidates
from pressbox.footy.adapters.clip_files import ClipFiles
from pressbox.footy.adapters.clip_store import SqlClips
from pressbox.footy.adapters.comparisons import SqlComparisons
from pressbox.footy.adapters.fixture_archive import SqlFixtureArchive
from pressbox.footy.adapters.fixture_imports import SqlFixtureImports
from pressbox.footy.adapters.follows import SqlFollows
from pressbox.footy.adapters.goal_reader import GoalReader
from pressbox.footy.adapters.goal_store import SqlGoals
from pressbox.footy.adapters.match_reader import MatchReader
from pressbox.footy.adapters.polls import SqlPolls
from pressbox.footy.adapters.source_health import SqlSourceHealth
from pressbox.footy.adapters.team_store import SqlTeamStore
from pressbox.footy.contracts.download import Video
from pressbox.footy.contracts.upload import UploadedVideo
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.fixtures import FixtureStatus, Followed, League, ObservedFixture, Team
from pressbox.footy.domain.goals import GoalDetail, Observation
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ports.storage import FixtureDecision

START = datetime(2026, 10, 3, 14, 0, tzinfo=UTC)
HOME, AWAY = Team(40, "Liverpool"), Team(42, "Arsenal")
LEAGUE = League(39, "Premier League", "England", "Regular Season - 7")
SALAH = (306, "Mohamed Salah")
SAKA = (1460, "Bukayo Saka")


def match(number: int = 1, **stated: object) -> ObservedFixture:
    plain = ObservedFixture(
        fixture_id=number,
        kickoff=START,
        status=FixtureStatus.FIRST_HALF,
        league=LEAGUE,
        home=HOME,
        away=AWAY,
        elapsed=10,
        home_goals=0,
        away_goals=0,
        events=(),
    )
    return replace(plain, **stated)  # type: ignore[arg-type]


def goal(minute: int, player: tuple[int, str] | None = SALAH, team: Team = HOME) -> Observation:
    number, name = player or (None, None)
    return Observation(team.id, team.name, number, name, GoalDetail.NORMAL, minute)


def with_goals(number: int, *goals: Observation, **stated: object) -> ObservedFixture:
    home = sum(one.team_id == HOME.id for one in goals)
    return match(number, events=goals, home_goals=home, away_goals=len(goals) - home, **stated)


@dataclass
class World:
    database: Database
    policy: FootyPolicy = field(default_factory=FootyPolicy)
    now: datetime = START + timedelta(minutes=10)
    runs: int = 0
    defaults: Followed = field(default_factory=lambda: Followed(frozenset({39}), frozenset({50})))

    def __post_init__(self) -> None:
        self.imports = SqlFixtureImports(self.database)
        self.polls = SqlPolls(self.database)
        self.comparisons = SqlComparisons(self.database)
        self.archive = SqlFixtureArchive(self.database)
        self.goals = SqlGoals(self.database)
        self.candidates = SqlCandidates(self.database)
        self.clips = SqlClips(self.database)
        self.teams = SqlTeamStore(self.database)
        self.follows = SqlFollows(self.database, self.defaults)
        self.health = SqlSourceHealth(self.database)
        self.matches = MatchReader(self.database, SEES_ALL)
        self.reader = GoalReader(self.database, SEES_ALL)
        self.files = ClipFiles(self.database, SEES_ALL)

    async def ingest(self, *fixtures: ObservedFixture) -> None:
        run_id = f"ingest-{self.next_run()}"
        await self.imports.save_fetched(run_id, fixtures)
        await self.imports.route_fetched(run_id, self.policy, self.now)

    def next_run(self) -> int:
        self.runs += 1
        return self.runs

    async def begin(self, *fixtures: ObservedFixture) -> str:
        """A run that has its answers and has not compared them."""
        self.now += timedelta(seconds=30)
        run_id = f"monitor-{self.next_run()}"
        await self.polls.register_run(run_id, self.policy, self.now)
        answers = {fixture.fixture_id: {"fixture": fixture.fixture_id} for fixture in fixtures}
        await self.polls.save_snapshots(run_id, answers, {}, self.now)
        return run_id

    async def decide(self, run_id: str, *fixtures: ObservedFixture) -> dict[int, tuple[int, FixtureDecision]]:
        observed = {fixture.fixture_id: fixture for fixture in fixtures}
        return {
            item.fixture_id: (
                item.version,
                FixtureDecision(
                    observed[item.fixture_id],
                    compare(
                        item.goals,
                        item.sequences,
                        observed[item.fixture_id],
                        run_id,
                        self.now,
                        self.policy,
                        item.looked,
                    ),
                ),
            )
            for item in await self.comparisons.load_uncompared(run_id, 1_000)
        }

    async def poll(self, *fixtures: ObservedFixture, times: int = 1) -> str:
        for _ in range(times):
            run_id = await self.begin(*fixtures)
            decisions = await self.decide(run_id, *fixtures)
            assert await self.comparisons.apply(run_id, decisions, self.policy, self.now) == []
        return run_id

    async def confirmed_goal(self, number: int = 1) -> str:
        """A goal of the 23rd minute, seen three times; its search has begun."""
        await self.ingest(match(number))
        await self.poll(with_goals(number, goal(23)), times=3)
        event_id = f"{number}_40_306_Goal_1"
        await self.goals.set_monitor_complete(event_id, f"twitter-{event_id}", self.now)
        return event_id

    async def found(self, event_id: str, attempt: int, *names: str) -> list[int]:
        videos = [FoundVideo("folder", f"https://clips.example.org/{name}", duration_seconds=20.0) for name in names]
        return list(await self.candidates.save(event_id, attempt, videos, self.now))

    async def changes(self) -> list[tuple[str, str]]:
        """What readers were told, and forget it."""
        async with self.database.unit_of_work() as work:
            rows = list(await work.session.scalars(select(ChangeRow).order_by(ChangeRow.id)))
            for row in rows:
                await work.session.delete(row)
        return [(row.kind, row.key) for row in rows]


def video(candidate_id: int, *, merged: tuple[int, ...] = (), size: int = 1_000, **stated: object) -> Video:
    plain = Video(
        candidate_id=candidate_id,
        scratch_key=f"scratch/{candidate_id}.mp4",
        md5=f"md5-{candidate_id}",
        duration_seconds=20.0,
        width=1280,
        height=720,
        bitrate=900_000,
        file_size=size,
        merged_ids=merged,
        timestamp_status=TimestampStatus.NO_CLOCK,
    )
    return plain.model_copy(update=stated)


def uploaded(one: Video) -> UploadedVideo:
    return UploadedVideo(video=one, object_key=f"clips/{one.md5}.mp4", poster_key=f"clips/{one.md5}.jpg")
