"""What footy's activities need from storage. A method is one transaction unless it says otherwise."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from pressbox.footy.contracts.aliases import TeamAliases
from pressbox.footy.contracts.download import CompletionResult, SettledCandidate, Video
from pressbox.footy.contracts.ingest import CleanupResult, StoredFixtures
from pressbox.footy.contracts.monitor import CompletedFixtures, GoalToSearch, RegisteredRun
from pressbox.footy.contracts.search import DownloadCount
from pressbox.footy.contracts.upload import GoalData, UploadedVideo
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.day_plan import Window
from pressbox.footy.domain.fixtures import Followed, ObservedFixture
from pressbox.footy.domain.goals import Comparison, PlayedMinute, SearchEnd, StoredGoal
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.request_budget import RequestBudget

# A part of an answer of API-Football, before it is parsed.
RawAnswer = Mapping[str, Any]
RawFixture = RawAnswer
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class UncomparedFixture:
    """A fixture whose snapshot of this run is not compared yet. `version` guards the write."""

    fixture_id: int
    version: int
    raw: RawFixture
    goals: Sequence[StoredGoal]
    # The highest sequence number ever given per (team, player); it is never reused, not even after a removal.
    sequences: Mapping[tuple[int, int], int] = field(default_factory=dict)
    # The minute of the match at the last look.
    looked: PlayedMinute | None = None


@dataclass(frozen=True)
class FixtureDecision:
    """What one answer means for one fixture and its goals. `observed` is None when the answer could not be read."""

    observed: ObservedFixture | None
    comparison: Comparison
    trouble: str = ""


class Follows(Protocol):
    async def load_followed(self) -> Followed: ...

    async def identify(self, teams: "Iterable[TeamName]") -> Mapping[int, int]:
        """Give followed teams of the program's own list their ids at API-Football; returns old and new ones."""
        ...


class FixtureImports(Protocol):
    """Fixtures that Ingest fetched, on their way into the stages."""

    async def save_fetched(self, run_id: str, fixtures: Sequence[ObservedFixture]) -> None:
        """Keep fetched fixtures until they are routed; repeating it is harmless."""
        ...

    async def route_fetched(self, run_id: str, policy: FootyPolicy, now: datetime) -> StoredFixtures:
        """Store what this run fetched: new fixtures by status, postponed ones back to staging, known ones untouched."""
        ...


class BudgetStore(Protocol):
    """The requests that one key may make, shared by all processes."""

    async def load(self) -> RequestBudget: ...

    async def change(self, decide: Callable[[RequestBudget], tuple[RequestBudget, ResultT]]) -> ResultT:
        """Apply a decision while nobody else changes the budget. When it raises, nothing is changed."""
        ...

    async def find_windows(self, now: datetime, ahead: timedelta) -> Sequence[Window]:
        """Find when the matches that are not over are polled as live ones, as far as today's requests pay for it."""
        ...


class Polls(Protocol):
    """The runs of the monitor, and what the API answered in each."""

    async def register_run(self, run_id: str, policy: FootyPolicy, now: datetime) -> RegisteredRun: ...

    async def count_scheduled(self, since: datetime) -> int:
        """Count the runs that the schedule started since then."""
        ...

    async def finish_run(self, run_id: str, summary: Mapping[str, int], now: datetime) -> None: ...

    async def publish_changes(self, run_id: str) -> int:
        """Notify browsers of everything that this run changed; returns the number of fixtures."""
        ...

    async def find_staging_due(self, policy: FootyPolicy, now: datetime) -> Mapping[int, datetime]:
        """Find staging fixtures that were not looked at since the quarter hour began, with their kick-offs."""
        ...

    async def pass_over(self, fixture_ids: Collection[int], now: datetime) -> None:
        """Note that staging fixtures had their turn in this quarter of an hour, although they were not asked for."""
        ...

    async def record_staging(
        self, fixtures: Sequence[ObservedFixture], missing: Mapping[int, str], now: datetime
    ) -> None:
        """Store date, status and teams of staging fixtures, and the reason on those that are missing."""
        ...

    async def activate(self, run_id: str, policy: FootyPolicy, now: datetime) -> int: ...

    async def find_active(self, run_id: str) -> Sequence[int]:
        """Find active fixtures that have no snapshot of this run yet."""
        ...

    async def save_snapshots(
        self, run_id: str, fixtures: Mapping[int, RawFixture], missing: Mapping[int, str], now: datetime
    ) -> None: ...


class Comparisons(Protocol):
    """The answers of a poll, the goals they are compared with, and what the comparison changes."""

    async def load_uncompared(self, run_id: str, limit: int) -> Sequence[UncomparedFixture]: ...

    async def load_snapshots(self, run_id: str, after: int, limit: int) -> Sequence[tuple[int, RawFixture]]:
        """Load raw answers of this run in the order of fixture ids, from behind `after`, compared or not."""
        ...

    async def apply(
        self, run_id: str, decisions: Mapping[int, tuple[int, FixtureDecision]], policy: FootyPolicy, now: datetime
    ) -> Sequence[int]:
        """Write decisions by fixture id, with the version they were made on, and mark the fixtures as compared.

        A fixture and its goals are written together or not at all. Several fixtures may share a transaction; one that
        the database refuses is written alone and marked as trouble. Returns the fixtures whose version had changed:
        they must be compared again.
        """
        ...

    async def sync_metadata(self, run_id: str, observed: Sequence[ObservedFixture], now: datetime) -> int:
        """Store score, status, minute, date and winner; returns how many fixtures changed."""
        ...


class FixtureArchive(Protocol):
    """Fixtures that are over, and those that are too old to be kept."""

    async def archive_finished(self, run_id: str, policy: FootyPolicy, now: datetime) -> CompletedFixtures:
        """Complete goals whose deadline passed, then archive the fixtures that are over."""
        ...

    async def find_expired(self, policy: FootyPolicy, now: datetime, limit: int) -> tuple[Sequence[int], Sequence[str]]:
        """Find fixtures older than the retention, and removed goals after their grace with objects left to delete."""
        ...

    async def delete(self, fixture_ids: Sequence[int], event_ids: Sequence[str]) -> CleanupResult: ...


class Goals(Protocol):
    """Goals and their registers."""

    async def claim_searches(
        self, policy: FootyPolicy, limit: int, freeze: Callable[[str, str], tuple[str, str]]
    ) -> Sequence[GoalToSearch]:
        """Take confirmed goals with a known scorer and no search yet. `freeze` makes the slugs of team and player."""
        ...

    async def set_monitor_complete(self, event_id: str, workflow_id: str, now: datetime) -> None: ...

    async def note_wrong_clock(self, event_id: str, ahead: timedelta, now: datetime) -> None:
        """Say once in the trail of a goal that our clock was wrong while it was searched for."""
        ...

    async def removal_reason(self, event_id: str) -> str | None:
        """Say what became of a goal that is gone, or None while it stands."""
        ...

    async def load_scorer(self, event_id: str) -> tuple[str, str, int]:
        """Load the current player, team and team id."""
        ...

    async def load_minute(self, event_id: str) -> tuple[int, int]:
        """Load the current elapsed and extra minutes."""
        ...

    async def record_query(self, event_id: str, query: str) -> None: ...

    async def load_search_start(self, event_id: str) -> datetime:
        """When the last successful search began; before the first one, when a poll last lacked the goal."""
        ...

    async def register_download(self, event_id: str, workflow_id: str, now: datetime) -> None: ...

    async def finish_download(self, event_id: str, workflow_id: str, outcome: str, now: datetime) -> None:
        """Also registers a download that never was."""
        ...

    async def count_downloads(self, event_id: str) -> DownloadCount: ...

    async def end_search(self, event_id: str, ended: SearchEnd, now: datetime) -> None: ...

    async def complete_if_ready(self, event_id: str, policy: FootyPolicy, now: datetime) -> CompletionResult: ...


@dataclass(frozen=True)
class SourceAnswer:
    """What one source answered in one attempt. `failure` is empty when it did."""

    source: str
    found: int
    failure: str = ""


@dataclass(frozen=True)
class Candidate:
    """A candidate as the download needs it."""

    candidate_id: int
    event_id: str
    video: FoundVideo
    final: bool


class Candidates(Protocol):
    """What the searches found, and what became of it."""

    async def load_known_urls(self, event_id: str) -> frozenset[str]: ...

    async def record_search(
        self, event_id: str, attempt: int, query: str, answers: Sequence[SourceAnswer], now: datetime
    ) -> None:
        """Record what the sources answered, replacing what was recorded of the same attempt."""
        ...

    async def save(self, event_id: str, attempt: int, videos: Sequence[FoundVideo], now: datetime) -> Sequence[int]:
        """Save one row per goal and URL, leaving known ones as they are; returns ids in the order of the videos."""
        ...

    async def choose(self, event_id: str, attempt: int, limit: int) -> Sequence[int]:
        """Choose the longest that wait; the others wait for the next attempt. Repeating it gives the same."""
        ...

    async def load(self, candidate_id: int) -> Candidate: ...

    async def settle(self, candidates: Iterable[SettledCandidate], now: datetime) -> None:
        """Record outcomes; a final one never changes."""
        ...


@dataclass(frozen=True)
class UncheckedClip:
    """What is needed to judge a stored clip again."""

    clip_id: int
    event_id: str
    object_key: str


@dataclass(frozen=True)
class StoredCopy:
    """A file that was accepted for a goal, shown or not.

    New files are compared with all copies of a scene. If they were compared with the shown copy only, the order of
    arrival would decide which scenes there are.
    """

    clip_id: int
    shown: bool
    video: Video
    fingerprint: bytes | None


class Clips(Protocol):
    """Stored clips. Popularity is counted from the candidates that point to a clip, so nothing counts twice.

    `add`, `replace` and `add_copy` keep the video and its fingerprint with the candidate; they can be repeated.
    """

    async def load_goal_data(self, event_id: str, candidate_ids: Sequence[int]) -> GoalData: ...

    async def load_copies(self, event_id: str, verified: bool | None = None) -> Sequence[StoredCopy]:
        """Load the copies of all clips of a goal, or only of its verified or unverified ones."""
        ...

    async def merge(self, clip_id: int, others: Sequence[int], now: datetime) -> Sequence[str]:
        """Merge other clips into this one, with their copies and share ids; returns keys of objects no longer used."""
        ...

    async def add(self, event_id: str, uploaded: UploadedVideo, fingerprint: bytes | None, now: datetime) -> int: ...

    async def replace(
        self, clip_id: int, uploaded: UploadedVideo, fingerprint: bytes | None, now: datetime
    ) -> Sequence[str]:
        """Put a better file into the same slot and share id; returns keys of objects no longer used."""
        ...

    async def add_copy(
        self, clip_id: int, video: Video, fingerprint: bytes | None, now: datetime, *, reason: str = ""
    ) -> None:
        """Count this video, and what was merged into it, as copies of a clip that has a better file."""
        ...

    async def rank(self, event_id: str) -> None: ...

    async def find_unchecked(self, limit: int) -> Sequence[UncheckedClip]:
        """Find some clips that are not checked yet, others each time."""
        ...

    async def record_check(self, clip_id: int, video: Video | None, settled: SettledCandidate | None) -> None:
        """Store what a late judgement says: either the checked video, or why the clip is dropped."""
        ...

    async def list_objects(self, fixture_ids: Sequence[int], event_ids: Sequence[str]) -> Sequence[str]: ...


@dataclass(frozen=True)
class TeamName:
    team_id: int
    name: str
    country: str = ""


class TeamStore(Protocol):
    """Teams and their cached aliases."""

    async def load_team(self, team_id: int) -> TeamName: ...

    async def load_aliases(self, team_id: int, alias_age: timedelta, now: datetime) -> TeamAliases: ...

    async def save_aliases(self, team_id: int, aliases: Sequence[str], source: str, now: datetime) -> None: ...


class SourceHealth(Protocol):
    async def record(self, answers: Sequence[SourceAnswer], now: datetime) -> None: ...


@dataclass(frozen=True)
class Aliases:
    """Best first, with where they come from. An unknown team has none."""

    names: tuple[str, ...]
    source: str
