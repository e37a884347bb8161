"""Hand-written doubles of footy's ports: one small world in memory.

A clip is a line of JSON that says which scenes it shows, how long and how large it is and what its clock reads; the
fake decoder, judge and fingerprint read that line. So a test can make copies that match in any pattern.
"""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from pressbox.core.errors import NotFoundError, PermanentError, PressboxError
from pressbox.core.objects.store import ObjectInfo
from pressbox.core.temporal.calls import activity_methods
from pressbox.footy.activities.aliases import AliasActivities
from pressbox.footy.activities.attempts import AttemptActivities
from pressbox.footy.activities.batches import BatchActivities
from pressbox.footy.activities.clip_inspector import ClipInspector
from pressbox.footy.activities.comparison import ComparisonActivities
from pressbox.footy.activities.download import DownloadActivities, ValidationActivities
from pressbox.footy.activities.handing_over import HandOverActivities
from pressbox.footy.activities.ingest import CleanupActivities, IngestActivities
from pressbox.footy.activities.poll import PollActivities
from pressbox.footy.activities.scenes import SceneActivities
from pressbox.footy.activities.search import SearchActivities
from pressbox.footy.activities.upkeep import CanaryActivities, RecheckActivities
from pressbox.footy.activities.upload import UploadActivities
from pressbox.footy.activities.whole_download import FetchActivities, InspectActivities
from pressbox.footy.contracts.aliases import TeamAliases
from pressbox.footy.contracts.download import CompletionResult, SettledCandidate, Video
from pressbox.footy.contracts.ingest import CleanupResult, StoredFixtures
from pressbox.footy.contracts.monitor import CompletedFixtures, GoalToSearch, RegisteredRun
from pressbox.footy.contracts.search import DownloadCount
from pressbox.footy.contracts.upload import GoalData, UploadedVideo
from pressbox.footy.domain.candidates import CandidateOutcome, FoundVideo, Probe
from pressbox.footy.domain.day_plan import Window
from pressbox.footy.domain.film_rule import Agreement, Sighting, Way
from pressbox.footy.domain.fixtures import Followed, ObservedFixture
from pressbox.footy.domain.goals import SearchEnd, StoredGoal
from pressbox.footy.domain.judgements import FrameJudgement, Vote
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.request_budget import RequestBudget
from pressbox.footy.ports.outside import DayAnswer, DownloadedFile, DownloadLimits, LiveAnswer, SearchRequest
from pressbox.footy.ports.storage import (
    Aliases,
    Candidate,
    FixtureDecision,
    RawFixture,
    SourceAnswer,
    StoredCopy,
    TeamName,
    UncheckedClip,
    UncomparedFixture,
)
from pressbox.footy.ports.workflows import Workflows

ResultT = TypeVar("ResultT")
LIVERPOOL, CITY = 40, 50
PLAYER = 234


def now() -> datetime:
    return datetime.now(UTC)


def clip(
    *scenes: str,
    duration: float = 10.0,
    size: int = 1000,
    clock: str = "22:10",
    note: str = "",
    hidden: Sequence[str] = (),
) -> bytes:
    """A file of `size` that shows these scenes; those that are `hidden` from hashes only its film shows."""
    facts = {"scenes": scenes, "duration": duration, "size": size, "clock": clock, "note": note, "hidden": hidden}
    return json.dumps(facts).encode()


def raw_fixture(fixture_id: int, *goals: dict[str, Any], status: str = "2H", score: int | None = None) -> RawFixture:
    """One element of the API's answer: Liverpool at home against City."""
    return {
        "fixture": {
            "id": fixture_id,
            "timestamp": int(now().timestamp()) - 3600,
            "status": {"short": status, "elapsed": 60},
        },
        "league": {"id": 39, "name": "Premier League", "country": "England"},
        "teams": {"home": {"id": LIVERPOOL, "name": "Liverpool"}, "away": {"id": CITY, "name": "Manchester City"}},
        "goals": {"home": len(goals) if score is None else score, "away": 0},
        "events": list(goals),
    }


def raw_goal(player: str | None = "D. Szoboszlai", player_id: int | None = PLAYER, elapsed: int = 23) -> dict[str, Any]:
    return {
        "time": {"elapsed": elapsed, "extra": None},
        "team": {"id": LIVERPOOL, "name": "Liverpool"},
        "player": {"id": player_id, "name": player},
        "assist": {"id": None, "name": None},
        "type": "Goal",
        "detail": "Normal Goal",
        "comments": None,
    }


class FakeObjects:
    def __init__(self) -> None:
        self.all: dict[str, bytes] = {}

    async def put(self, key: str, data: bytes | AsyncIterable[bytes] | Path) -> ObjectInfo:
        if isinstance(data, Path):
            data = await asyncio.to_thread(data.read_bytes)
        assert isinstance(data, bytes)
        self.all[key] = data
        return ObjectInfo(key, len(data), now())

    async def get(self, key: str) -> bytes:
        if key not in self.all:
            raise NotFoundError(f"There is no object {key}.")
        return self.all[key]

    async def stream(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        yield (await self.get(key))[start:end]

    async def info(self, key: str) -> ObjectInfo | None:
        return ObjectInfo(key, len(self.all[key]), now()) if key in self.all else None

    async def delete(self, key: str) -> None:
        self.all.pop(key, None)

    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        for key in [key for key in self.all if key.startswith(prefix)]:
            yield ObjectInfo(key, len(self.all[key]), now())

    async def link(self, key: str, expires: timedelta) -> str | None:
        return None

    async def remove_unfinished(self, before: datetime) -> int:
        return 0

    async def check(self) -> None:
        return None


class FakeApi:
    """`down` answers every call with that error; `calls` are the ids of each."""

    def __init__(self) -> None:
        self.live: dict[int, RawFixture] = {}
        self.days: dict[date, list[ObservedFixture]] = {}
        self.asked_days: list[date] = []
        self.calls: list[Sequence[int]] = []
        self.asked_account = 0
        self.down: PressboxError | None = None
        self.broken: set[int] = set()
        self.refused_days: set[date] = set()
        # A test clears it to keep the answers of days back.
        self.held = asyncio.Event()
        self.held.set()
        self.at_once = 0
        self.most_at_once = 0

    async def fetch_day(self, day: date) -> DayAnswer:
        self.asked_days.append(day)
        await self.held.wait()
        if self.down:
            raise self.down
        if day in self.refused_days:
            raise PermanentError("This day is not in the plan.")
        return DayAnswer(self.days.get(day, []))

    async def fetch_by_ids(self, fixture_ids: Sequence[int]) -> LiveAnswer:
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            await asyncio.sleep(0.005)
            self.calls.append(fixture_ids)
            if self.down:
                raise self.down
            if self.broken & set(fixture_ids):
                raise PermanentError("The answer is not JSON.")
            found = {key: self.live[key] for key in fixture_ids if key in self.live}
            return LiveAnswer(found, {key: "not in the answer" for key in fixture_ids if key not in found})
        finally:
            self.at_once -= 1

    async def fetch_waiting(self, kickoffs: Mapping[int, datetime]) -> LiveAnswer:
        return await self.fetch_by_ids(list(kickoffs))

    async def fetch_status(self) -> None:
        self.asked_account += 1


@dataclass
class FakeGoal:
    goal: StoredGoal
    fixture_id: int
    team_name: str = "Liverpool"
    slugs: tuple[str, str] | None = None
    asked: bool = False
    removed: bool = False
    monitor_complete: bool = False
    query: str = ""
    downloads: dict[str, str | None] = field(default_factory=dict)
    ended: SearchEnd | None = None
    complete: bool = False
    searched_since: datetime = field(default_factory=now)


class FakeFixtures:
    def __init__(self, goals: "FakeGoals") -> None:
        self._goals = goals
        self.active: set[int] = set()
        self.staging: set[int] = set()
        self.fetched: dict[str, dict[int, ObservedFixture]] = {}
        self.snapshots_of: dict[str, dict[int, RawFixture]] = {}
        self.compared: dict[str, set[int]] = {}
        self.troubles: dict[int, str] = {}
        self.runs: dict[str, Mapping[str, int] | None] = {}
        self.told = 0
        # How many runs of the schedule were lately.
        self.scheduled = 0
        self.ready: tuple[int, ...] = ()
        self.teams: tuple[int, ...] = ()
        self.old: list[int] = []
        self.stored: set[int] = set()
        self.synced: set[int] = set()

    async def load_followed(self) -> Followed:
        return Followed(frozenset({39}))

    async def identify(self, teams: Iterable[TeamName]) -> Mapping[int, int]:
        return {}

    async def save_fetched(self, run_id: str, fixtures: Sequence[ObservedFixture]) -> None:
        self.fetched.setdefault(run_id, {}).update({item.fixture_id: item for item in fixtures})

    async def route_fetched(self, run_id: str, policy: FootyPolicy, now: datetime) -> StoredFixtures:
        fetched = self.fetched.get(run_id, {})
        new = set(fetched) - self.stored
        self.stored |= new
        return StoredFixtures(staging=len(new), known=len(fetched) - len(new), teams=self.teams)

    async def register_run(self, run_id: str, policy: FootyPolicy, now: datetime) -> RegisteredRun:
        self.runs.setdefault(run_id, None)
        return RegisteredRun(staging_due=len(self.staging), active=len(self.active))

    async def count_scheduled(self, since: datetime) -> int:
        return self.scheduled

    async def finish_run(self, run_id: str, summary: Mapping[str, int], now: datetime) -> None:
        self.runs[run_id] = summary

    async def find_staging_due(self, policy: FootyPolicy, now: datetime) -> Mapping[int, datetime]:
        return dict.fromkeys(sorted(self.staging), now)

    async def pass_over(self, fixture_ids: Collection[int], now: datetime) -> None:
        return None

    async def record_staging(
        self, fixtures: Sequence[ObservedFixture], missing: Mapping[int, str], now: datetime
    ) -> None:
        self.troubles.update(missing)

    async def activate(self, run_id: str, policy: FootyPolicy, now: datetime) -> int:
        started, self.staging = self.staging, set()
        self.active |= started
        return len(started)

    async def find_active(self, run_id: str) -> Sequence[int]:
        return sorted(self.active - set(self.snapshots_of.get(run_id, {})))

    async def save_snapshots(
        self, run_id: str, fixtures: Mapping[int, RawFixture], missing: Mapping[int, str], now: datetime
    ) -> None:
        self.snapshots_of.setdefault(run_id, {}).update(fixtures)
        self.troubles.update(missing)
        for fixture_id in fixtures:
            self.troubles.pop(fixture_id, None)

    async def load_uncompared(self, run_id: str, limit: int) -> Sequence[UncomparedFixture]:
        done = self.compared.setdefault(run_id, set())
        waiting = [key for key in sorted(self.snapshots_of.get(run_id, {})) if key not in done][:limit]
        return [
            UncomparedFixture(
                key, 1, self.snapshots_of[run_id][key], self._goals.stored(key), self._goals.sequences(key)
            )
            for key in waiting
        ]

    async def apply(
        self, run_id: str, decisions: Mapping[int, tuple[int, FixtureDecision]], policy: FootyPolicy, now: datetime
    ) -> Sequence[int]:
        for fixture_id, (_, decision) in decisions.items():
            if decision.trouble:
                self.troubles[fixture_id] = decision.trouble
            self._goals.apply(fixture_id, run_id, decision)
            self.compared.setdefault(run_id, set()).add(fixture_id)
        return []

    async def load_snapshots(self, run_id: str, after: int, limit: int) -> Sequence[tuple[int, RawFixture]]:
        return [item for item in sorted(self.snapshots_of.get(run_id, {}).items()) if item[0] > after][:limit]

    async def sync_metadata(self, run_id: str, observed: Sequence[ObservedFixture], now: datetime) -> int:
        self.synced |= {item.fixture_id for item in observed}
        return len(observed)

    async def archive_finished(self, run_id: str, policy: FootyPolicy, now: datetime) -> CompletedFixtures:
        self.active -= set(self.ready)
        return CompletedFixtures(fixture_ids=self.ready)

    async def publish_changes(self, run_id: str) -> int:
        self.told += 1
        return 1

    async def find_expired(self, policy: FootyPolicy, now: datetime, limit: int) -> tuple[Sequence[int], Sequence[str]]:
        return self.old[:limit], ()

    async def delete(self, fixture_ids: Sequence[int], event_ids: Sequence[str]) -> CleanupResult:
        self.old = [key for key in self.old if key not in fixture_ids]
        return CleanupResult(fixtures=len(fixture_ids))


class FakeGoals:
    def __init__(self) -> None:
        self.all: dict[str, FakeGoal] = {}
        self.last: dict[tuple[int, int, int], int] = {}
        self.trouble: list[PressboxError] = []
        # What reading stumbles over, by the name of the method.
        self.stumbles: dict[str, list[PressboxError]] = {}
        self.wrong_clocks: dict[str, timedelta] = {}
        self.finishing = asyncio.Event()
        self.hold: asyncio.Event | None = None

    def stored(self, fixture_id: int) -> Sequence[StoredGoal]:
        return [item.goal for item in self.all.values() if item.fixture_id == fixture_id]

    def sequences(self, fixture_id: int) -> Mapping[tuple[int, int], int]:
        return {(team, player): last for (key, team, player), last in self.last.items() if key == fixture_id}

    def apply(self, fixture_id: int, run_id: str, decision: FixtureDecision) -> None:
        for new in decision.comparison.created:
            seen = new.observation
            player = seen.player_id or 0
            self.last[fixture_id, seen.team_id, player] = new.sequence
            self.all[new.event_id] = FakeGoal(
                StoredGoal(
                    new.event_id, seen.team_id, player, seen.player_name or "", seen.detail, seen.elapsed, seen.extra,
                    new.score, frozenset({run_id}), frozenset(), first_seen=now(),
                ),
                fixture_id,
            )  # fmt: skip
        for again in decision.comparison.seen:
            item = self.all[again.event_id]
            runs = item.goal.monitor_runs | ({run_id} if again.registers else set())
            item.goal = replace(
                item.goal,
                monitor_runs=runs,
                drop_runs=frozenset(),
                player_id=again.observation.player_id or 0,
                player_name=again.observation.player_name or "",
            )
        for missed in decision.comparison.missed:
            item = self.all[missed.event_id]
            item.goal = replace(item.goal, drop_runs=item.goal.drop_runs | {run_id})
            if missed.removes:
                item.removed, item.goal = True, replace(item.goal, removed_at=now())

    def plant(self, event_id: str, fixture_id: int, **changes: Any) -> FakeGoal:
        """A confirmed goal in minute 23 (the clock shows 22)."""
        from pressbox.footy.domain.goals import GoalDetail, Score

        goal = StoredGoal(
            event_id, LIVERPOOL, PLAYER, "D. Szoboszlai", GoalDetail.NORMAL, 23, None, Score(1, 0), frozenset("abc"),
            frozenset(), first_seen=now(),
        )  # fmt: skip
        self.all[event_id] = FakeGoal(goal, fixture_id, **changes)
        return self.all[event_id]

    async def claim_searches(
        self, policy: FootyPolicy, limit: int, freeze: Callable[[str, str], tuple[str, str]]
    ) -> Sequence[GoalToSearch]:
        found = []
        for event_id, item in self.all.items():
            enough = len(item.goal.monitor_runs) >= policy.runs_to_confirm
            if item.monitor_complete or item.removed or not item.goal.player_name or not enough:
                continue
            item.slugs = item.slugs or freeze(item.team_name, item.goal.player_name)
            found.append(
                GoalToSearch(
                    fixture_id=item.fixture_id,
                    event_id=event_id,
                    team_id=item.goal.team_id,
                    team_slug=item.slugs[0],
                    player_slug=item.slugs[1],
                    minute_label=str(item.goal.elapsed),
                    asked_before=item.asked,
                )
            )
            item.asked = True
        return found[:limit]

    async def set_monitor_complete(self, event_id: str, workflow_id: str, now: datetime) -> None:
        if self.trouble:
            raise self.trouble.pop()
        item = self.all[event_id]
        item.monitor_complete, item.goal = True, replace(item.goal, monitor_complete=True)

    async def note_wrong_clock(self, event_id: str, ahead: timedelta, now: datetime) -> None:
        self.wrong_clocks[event_id] = ahead

    def _stumble(self, name: str) -> None:
        if waiting := self.stumbles.get(name):
            raise waiting.pop(0)

    async def removal_reason(self, event_id: str) -> str | None:
        self._stumble("removal_reason")
        return "disallowed" if self.all[event_id].removed else None

    async def load_scorer(self, event_id: str) -> tuple[str, str, int]:
        item = self.all[event_id]
        return item.goal.player_name, item.team_name, item.goal.team_id

    async def load_minute(self, event_id: str) -> tuple[int, int]:
        self._stumble("load_minute")
        goal = self.all[event_id].goal
        return goal.elapsed, goal.extra or 0

    async def record_query(self, event_id: str, query: str) -> None:
        self.all[event_id].query = query

    async def load_search_start(self, event_id: str) -> datetime:
        return self.all[event_id].searched_since

    async def register_download(self, event_id: str, workflow_id: str, now: datetime) -> None:
        self.all[event_id].downloads.setdefault(workflow_id, None)

    async def finish_download(self, event_id: str, workflow_id: str, outcome: str, now: datetime) -> None:
        self.finishing.set()
        if self.hold:
            await self.hold.wait()
        if self.all[event_id].downloads.get(workflow_id) is None:
            self.all[event_id].downloads[workflow_id] = outcome

    async def count_downloads(self, event_id: str) -> DownloadCount:
        rows = self.all[event_id].downloads
        return DownloadCount(registered=len(rows), finished=sum(row is not None for row in rows.values()))

    async def end_search(self, event_id: str, ended: SearchEnd, now: datetime) -> None:
        self.all[event_id].ended = ended

    async def complete_if_ready(self, event_id: str, policy: FootyPolicy, now: datetime) -> CompletionResult:
        item, count = self.all[event_id], await self.count_downloads(event_id)
        over = item.ended is SearchEnd.NO_SOURCE or (
            item.ended is SearchEnd.EXHAUSTED and count.finished >= count.registered
        )
        item.complete = item.complete or item.removed or over or count.finished >= policy.downloads_wanted
        return CompletionResult(complete=item.complete)


@dataclass
class FakeCandidate:
    candidate_id: int
    event_id: str
    attempt: int
    video: FoundVideo
    outcome: CandidateOutcome = CandidateOutcome.FOUND
    reason: str = ""
    file: Video | None = None
    fingerprint: bytes | None = None
    clip_id: int | None = None
    chosen_in: int | None = None


class FakeCandidates:
    def __init__(self, goals: FakeGoals) -> None:
        self._goals = goals
        # What saving stumbles over, one after the other.
        self.trouble: list[PressboxError] = []
        self.all: dict[int, FakeCandidate] = {}
        self.searches: dict[tuple[str, int], Sequence[SourceAnswer]] = {}

    def plant(self, event_id: str, url: str, outcome: CandidateOutcome = CandidateOutcome.CHOSEN) -> int:
        number = len(self.all) + 1
        self.all[number] = FakeCandidate(number, event_id, 1, FoundVideo("folder", url), outcome)
        return number

    def outcomes(self, event_id: str) -> dict[str, CandidateOutcome]:
        return {row.video.video_page_url: row.outcome for row in self.all.values() if row.event_id == event_id}

    async def load_known_urls(self, event_id: str) -> frozenset[str]:
        return frozenset(row.video.video_page_url for row in self.all.values() if row.event_id == event_id)

    async def record_search(
        self, event_id: str, attempt: int, query: str, answers: Sequence[SourceAnswer], now: datetime
    ) -> None:
        self.searches[event_id, attempt] = answers
        if not any(answer.failure for answer in answers):
            self._goals.all[event_id].searched_since = now

    async def save(self, event_id: str, attempt: int, videos: Sequence[FoundVideo], now: datetime) -> Sequence[int]:
        if self.trouble:
            raise self.trouble.pop()
        known = {row.video.video_page_url: key for key, row in self.all.items() if row.event_id == event_id}
        for video in videos:
            if video.video_page_url not in known:
                number = known[video.video_page_url] = len(self.all) + 1
                self.all[number] = FakeCandidate(number, event_id, attempt, video)
        return [known[video.video_page_url] for video in videos]

    async def choose(self, event_id: str, attempt: int, limit: int) -> Sequence[int]:
        mine = [row for row in self.all.values() if row.event_id == event_id]
        taken = [row for row in mine if row.chosen_in == attempt]
        waiting = [row for row in mine if row.outcome is CandidateOutcome.FOUND]
        waiting.sort(key=lambda row: -(row.video.duration_seconds or 0))
        for row in waiting[: 0 if taken else limit]:
            row.outcome, row.chosen_in = CandidateOutcome.CHOSEN, attempt
            taken.append(row)
        return [row.candidate_id for row in taken]

    async def load(self, candidate_id: int) -> Candidate:
        if candidate_id not in self.all:
            raise NotFoundError("There is no such candidate.")
        row = self.all[candidate_id]
        return Candidate(candidate_id, row.event_id, row.video, row.outcome.final)

    async def settle(self, candidates: Iterable[SettledCandidate], now: datetime) -> None:
        for settled in candidates:
            row = self.all[settled.candidate_id]
            if not row.outcome.final:
                row.outcome, row.reason = settled.outcome, settled.reason


@dataclass
class FakeClip:
    clip_id: int
    event_id: str
    uploaded: UploadedVideo
    share_id: str
    former: tuple[str, ...] = ()
    rank: int = 0


class FakeClips:
    def __init__(self, candidates: FakeCandidates, goals: FakeGoals) -> None:
        self.all: dict[int, FakeClip] = {}
        self._candidates = candidates
        self._goals = goals
        self._number = 0
        self.trouble: list[PressboxError] = []

    def shown(self, event_id: str) -> set[str]:
        """The files that are shown, by MD5."""
        return {row.uploaded.video.md5 for row in self.all.values() if row.event_id == event_id}

    def popularity(self, clip_id: int) -> int:
        rows = [row for row in self._candidates.all.values() if row.clip_id == clip_id and row.file]
        return sum(row.file.popularity for row in rows if row.file)

    async def load_goal_data(self, event_id: str, candidate_ids: Sequence[int]) -> GoalData:
        rows = self._candidates.all
        return GoalData(
            exists=not self._goals.all[event_id].removed,
            clips=len(self.all),
            done=tuple(key for key in candidate_ids if rows[key].outcome.final),
        )

    async def load_copies(self, event_id: str, verified: bool | None = None) -> Sequence[StoredCopy]:
        found = []
        for row in self._candidates.all.values():
            held = self.all.get(row.clip_id) if row.clip_id is not None else None
            if held is None or row.file is None or held.event_id != event_id:
                continue
            if verified is None or held.uploaded.video.timestamp_verified is verified:
                shown = held.uploaded.video.candidate_id == row.candidate_id
                found.append(StoredCopy(held.clip_id, shown, row.file, row.fingerprint))
        return found

    async def merge(self, clip_id: int, others: Sequence[int], now: datetime) -> Sequence[str]:
        unused = []
        for number in others:
            gone = self.all.pop(number, None)
            if gone is not None:
                unused += [gone.uploaded.object_key, gone.uploaded.poster_key]
                self.all[clip_id].former += (gone.share_id, *gone.former)
            for row in self._candidates.all.values():
                if row.clip_id == number:
                    row.clip_id = clip_id
        return unused

    async def add(self, event_id: str, uploaded: UploadedVideo, fingerprint: bytes | None, now: datetime) -> int:
        for row in self.all.values():
            if row.event_id == event_id and row.uploaded.video.candidate_id == uploaded.video.candidate_id:
                return row.clip_id
        self._number += 1
        self.all[self._number] = FakeClip(self._number, event_id, uploaded, f"share{self._number}")
        self._keep(self._number, uploaded.video, fingerprint, CandidateOutcome.STORED)
        return self._number

    async def replace(
        self, clip_id: int, uploaded: UploadedVideo, fingerprint: bytes | None, now: datetime
    ) -> Sequence[str]:
        row = self.all[clip_id]
        unused = [row.uploaded.object_key, row.uploaded.poster_key]
        row.uploaded = uploaded
        self._keep(clip_id, uploaded.video, fingerprint, CandidateOutcome.REPLACED)
        return unused

    async def add_copy(
        self, clip_id: int, video: Video, fingerprint: bytes | None, now: datetime, *, reason: str = ""
    ) -> None:
        self._keep(clip_id, video, fingerprint, CandidateOutcome.DUPLICATE)
        self._candidates.all[video.candidate_id].reason = reason

    async def rank(self, event_id: str) -> None:
        if self.trouble:
            raise self.trouble.pop()
        rows = [row for row in self.all.values() if row.event_id == event_id]
        rows.sort(key=lambda row: (not row.uploaded.video.timestamp_verified, -self.popularity(row.clip_id)))
        for place, row in enumerate(rows, start=1):
            row.rank = place

    async def object_key(self, clip_id: int) -> str:
        return self.all[clip_id].uploaded.object_key

    async def find_unchecked(self, limit: int) -> Sequence[UncheckedClip]:
        rows = [row for row in self.all.values() if not row.uploaded.video.checked]
        return [UncheckedClip(row.clip_id, row.event_id, row.uploaded.object_key) for row in rows][:limit]

    async def record_check(self, clip_id: int, video: Video | None, settled: SettledCandidate | None) -> None:
        if video is None:
            del self.all[clip_id]
            return
        row = self.all[clip_id]
        row.uploaded = row.uploaded.model_copy(update={"video": video})
        self._candidates.all[video.candidate_id].file = video

    async def list_objects(self, fixture_ids: Sequence[int], event_ids: Sequence[str]) -> Sequence[str]:
        return []

    def _keep(self, clip_id: int, video: Video, fingerprint: bytes | None, outcome: CandidateOutcome) -> None:
        row = self._candidates.all[video.candidate_id]
        row.clip_id, row.file, row.fingerprint, row.outcome = clip_id, video, fingerprint, outcome


class FakeTeams:
    def __init__(self) -> None:
        self.cache: dict[int, TeamAliases] = {}

    async def load_team(self, team_id: int) -> TeamName:
        return TeamName(team_id, "Liverpool")

    async def load_aliases(self, team_id: int, alias_age: timedelta, now: datetime) -> TeamAliases:
        return self.cache.get(team_id, TeamAliases(team_id=team_id, team_name="Liverpool"))

    async def save_aliases(self, team_id: int, aliases: Sequence[str], source: str, now: datetime) -> None:
        self.cache[team_id] = TeamAliases(
            team_id=team_id, team_name="Liverpool", aliases=tuple(aliases), source=source, fetched_at=now, fresh=True
        )


class FakeAliasSource:
    def __init__(self) -> None:
        self.asked = 0
        self.down: PressboxError | None = None

    async def find_aliases(self, team: TeamName) -> Aliases:
        self.asked += 1
        if self.down:
            raise self.down
        return Aliases((team.name, "LFC"), "fake")


class FakeSource:
    """`waves` are what it finds at one search after the other; `failure` is raised instead."""

    def __init__(self, name: str = "folder") -> None:
        self.name = name
        self.waves: list[list[FoundVideo]] = []
        self.requests: list[SearchRequest] = []
        self.failure: Exception | None = None

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]:
        self.requests.append(request)
        if self.failure:
            raise self.failure
        return self.waves.pop(0) if self.waves else []


class FakeHealth:
    def __init__(self) -> None:
        self.answers: list[SourceAnswer] = []

    async def record(self, answers: Sequence[SourceAnswer], now: datetime) -> None:
        self.answers += answers


class FakeDownloader:
    """Files by the address of their page; an exception there is raised. `hold` lets a download wait."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | Exception] = {}
        self.hold: asyncio.Event | None = None
        self.arrived = asyncio.Event()
        self.asked: Counter[str] = Counter()

    async def fetch(self, video: FoundVideo, target: Path, limits: DownloadLimits) -> DownloadedFile:
        self.asked[video.video_page_url] += 1
        self.arrived.set()
        if self.hold:
            await self.hold.wait()
        content = self.files[video.video_page_url]
        if isinstance(content, Exception):
            raise content
        await asyncio.to_thread(target.write_bytes, content)
        return DownloadedFile(int(json.loads(content)["size"]), hashlib.md5(content).hexdigest())


class FakeMedia:
    def __init__(self) -> None:
        self.unplayable: set[str] = set()
        self.seen_through = 0

    async def probe(self, path: Path) -> Probe:
        facts = await _facts(path)
        return Probe(facts["duration"], 1280, 720, 1000, facts["size"])

    async def fingerprint(self, path: Path, progress: Path | None = None) -> bytes:
        return await asyncio.to_thread(path.read_bytes)

    async def find_same_scene(self, query: bytes, references: Mapping[int, bytes]) -> frozenset[int]:
        scenes = set(json.loads(query)["scenes"])
        return frozenset(key for key, found in references.items() if scenes & set(json.loads(found)["scenes"]))

    async def see_through(self, query: bytes, references: Mapping[int, bytes]) -> Mapping[int, Sighting]:
        """Find what only a film shows: scenes that are `hidden` from hashes."""
        self.seen_through += len(references)
        hidden = set(json.loads(query)["hidden"])
        same = {key for key, found in references.items() if hidden & set(json.loads(found)["hidden"])}
        agreement = Agreement(seconds=4.0, moving=0.9, least=0.8, still=0.9)
        return {key: Sighting(way=Way(turned=5.0), agreement=agreement) for key in same}

    async def take_frames(self, path: Path, fractions: Sequence[float]) -> Sequence[bytes]:
        facts = await _facts(path)
        return [json.dumps(facts).encode()] * len(fractions)

    async def take_poster(self, path: Path) -> bytes:
        return b"poster"

    async def make_playable(self, path: Path, target: Path) -> Probe:
        facts = await _facts(path)
        if facts["note"] in self.unplayable:
            raise PermanentError("No browser plays this.")
        await asyncio.to_thread(target.write_bytes, await asyncio.to_thread(path.read_bytes))
        return await self.probe(target)


async def _facts(path: Path) -> dict[str, Any]:
    content = await asyncio.to_thread(path.read_bytes)
    try:
        facts: dict[str, Any] = json.loads(content)
    except ValueError as error:
        raise PermanentError("This is not a video.") from error
    return facts


class FakeJudge:
    name = "fake"

    def __init__(self) -> None:
        self.down: PressboxError | None = None
        self.asked = 0

    async def judge(self, frames: Sequence[bytes]) -> Sequence[FrameJudgement]:
        self.asked += 1
        if self.down:
            raise self.down
        facts = [json.loads(frame) for frame in frames]
        football = {True: Vote.YES, False: Vote.NO}
        return [FrameJudgement(football[item["note"] != "cat"], Vote.NO, item["clock"]) for item in facts]


class FakeBudget:
    """The budget of requests without a database."""

    def __init__(self) -> None:
        self.known = RequestBudget()
        self.windows: Sequence[Window] = ()

    async def load(self) -> RequestBudget:
        return self.known

    async def change(self, decide: Callable[[RequestBudget], tuple[RequestBudget, ResultT]]) -> ResultT:
        self.known, result = decide(self.known)
        return result

    async def find_windows(self, now: datetime, ahead: timedelta) -> Sequence[Window]:
        return self.windows


class FakePace:
    """What the schedule of polls was asked for, in its order."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def rest(self) -> None:
        self.asked.append("rest")

    async def hasten(self) -> None:
        self.asked.append("hasten")


class FakeWorld:
    """Everything together; `workflows` is the real adapter, which a stage brings."""

    def __init__(self, missing: str = "") -> None:
        self.objects = FakeObjects()
        self.api = FakeApi()
        self.budget = FakeBudget()
        self.pace = FakePace()
        self.goals = FakeGoals()
        self.fixtures = FakeFixtures(self.goals)
        self.candidates = FakeCandidates(self.goals)
        self.clips = FakeClips(self.candidates, self.goals)
        self.teams = FakeTeams()
        self.alias_source = FakeAliasSource()
        self.sources = [FakeSource()]
        self.health = FakeHealth()
        self.downloader = FakeDownloader()
        self.media = FakeMedia()
        self.judge = FakeJudge()
        self.missing = missing

    def publish(self, url: str, content: bytes | Exception, duration: float = 10.0) -> FoundVideo:
        self.downloader.files[url] = content
        return FoundVideo("folder", url, media_url=url, duration_seconds=duration)

    def plain_activities(self, workflows: Workflows) -> list[Callable[..., Any]]:
        aliases, search, downloads, ending, uploads = self._clip_holders(workflows)
        return activity_methods(
            IngestActivities(self.api, self.fixtures, self.fixtures, self.pace, self.missing),
            CleanupActivities(self.fixtures, self.clips, self.objects),
            PollActivities(self.api, self.fixtures, self.budget, self.pace, self.missing),
            ComparisonActivities(self.fixtures, self.fixtures, self.fixtures, self.goals, workflows),
            aliases,
            search,
            downloads,
            ending,
            uploads,
            CanaryActivities(self.sources, self.health),
        )

    def clips_activities(self, workflows: Workflows) -> list[Callable[..., Any]]:
        aliases, search, downloads, ending, _ = self._clip_holders(workflows)
        return activity_methods(
            AttemptActivities(search, aliases, ending, workflows), FetchActivities(self.goals, downloads, ending)
        )

    def media_activities(self, workflows: Workflows) -> list[Callable[..., Any]]:
        inspector = ClipInspector(self.media, self.judge)
        *_, ending, uploads = self._clip_holders(workflows)
        validation = ValidationActivities(self.goals, self.candidates, self.media, self.objects, inspector)
        scenes = SceneActivities(self.clips, self.media, self.objects)
        return activity_methods(
            validation,
            scenes,
            InspectActivities(validation, ending),
            BatchActivities(uploads, scenes, ending),
            RecheckActivities(self.goals, self.clips, self.objects, inspector, workflows),
        )

    def _clip_holders(
        self, workflows: Workflows
    ) -> tuple[AliasActivities, SearchActivities, DownloadActivities, HandOverActivities, UploadActivities]:
        return (
            AliasActivities(self.teams, self.alias_source),
            SearchActivities(self.goals, self.candidates, self.sources, source_time=timedelta(seconds=1)),
            DownloadActivities(self.goals, self.candidates, self.downloader, self.media, self.objects),
            HandOverActivities(self.goals, self.candidates, self.objects, workflows),
            UploadActivities(self.clips, self.candidates, self.objects),
        )
