"""What footy needs from storage."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from pressbox.footy.contracts.aliases import TeamAliases
from pressbox.footy.contracts.download import CompletionResult, SettledCandidate, Video
from pressbox.footy.contracts.ingest import CleanupResult, StoredFixtures
from pressbox.footy.contracts.monitor import CompletedFixtures, GoalToSearch, RegisteredRun
from pressbox.footy.contracts.search import DownloadCount
from pressbox.footy.contracts.upload import GoalData, UploadedVideo
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.fixtures import Followed, ObservedFixture
from pressbox.footy.domain.goals import Comparison, SearchEnd, StoredGoal
from pressbox.footy.domain.policy import FootyPolicy

RawFixture = Mapping[str, Any]


@dataclass(frozen=True)
class UncomparedFixture:
    """A fixture whose snapshot of this run is not compared yet. `version` guards the write."""

    fixture_id: int
    version: int
    raw: RawFixture
    goals: Sequence[StoredGoal]
    # The highest sequence number ever given per (team, player): never reused, also after a removal.
    sequences: Mapping[tuple[int, int], int] = field(default_factory=dict)


@dataclass(frozen=True)
class FixtureDecision:
    """What one answer means for one fixture and its goals. `observed` is None when the answer could not be read."""

    observed: ObservedFixture | None
    comparison: Comparison
    trouble: str = ""


class Follows(Protocol):
    async def load_followed(self) -> Followed: ...


class FixtureImports(Protocol):
    """What Ingest fetched, on its way into the stages."""

    async def save_fetched(self, run_id: str, fixtures: Sequence[ObservedFixture]) -> None:
        """Keep what Ingest fetched until it is routed; the same again is fine."""
        ...

    async def route_fetched(self, run_id: str, alias_age: timedelta, now: datetime) -> StoredFixtures:
        """Store what this run fetched: new ones by status, a postponed one back to staging, known ones untouched."""
        ...


class Polls(Protocol):
    """The runs of the monitor and what the API answered to each."""

    async def register_run(self, run_id: str, policy: FootyPolicy, now: datetime) -> RegisteredRun: ...

    async def finish_run(self, run_id: str, summary: Mapping[str, int], now: datetime) -> None: ...

    async def publish_changes(self, run_id: str) -> int:
        """Send one notification for everything that this run changed; returns how many fixtures that were."""
        ...

    async def find_staging_due(self, policy: FootyPolicy, now: datetime) -> Sequence[int]:
        """Staging fixtures that were not polled since the quarter hour began."""
        ...

    async def record_staging(
        self, fixtures: Sequence[ObservedFixture], missing: Mapping[int, str], now: datetime
    ) -> None:
        """Date, status and teams of waiting fixtures; `last_monitor` moves for all, the reason stays on the missing."""
        ...

    async def activate(self, run_id: str, policy: FootyPolicy, now: datetime) -> int: ...

    async def find_active(self, run_id: str) -> Sequence[int]:
        """Active fixtures that have no snapshot of this run yet."""
        ...

    async def save_snapshots(
        self, run_id: str, fixtures: Mapping[int, RawFixture], missing: Mapping[int, str], now: datetime
    ) -> None: ...


class Comparisons(Protocol):
    """The answers of a poll beside the goals that are known, and what the comparison changes."""

    async def load_uncompared(self, run_id: str, limit: int) -> Sequence[UncomparedFixture]: ...

    async def load_snapshots(self, run_id: str, after: int, limit: int) -> Sequence[tuple[int, RawFixture]]:
        """Raw answers of this run by fixture id, ascending, those behind `after`: compared or not."""
        ...

    async def apply(
        self, run_id: str, decisions: Mapping[int, tuple[int, FixtureDecision]], policy: FootyPolicy, now: datetime
    ) -> Sequence[int]:
        """Write decisions by fixture id with the version they were made on.

        A fixture and its goals are written together or not at all; several fixtures may share a transaction, and one
        that the database refuses is written apart and marked as trouble. Returns the fixtures whose version had moved:
        they are still to be compared. Marks what was written as compared by this run and notes which look different.
        """
        ...

    async def sync_metadata(self, run_id: str, observed: Sequence[ObservedFixture], now: datetime) -> int:
        """Score, status, minute, date and winner, by named column; returns how many looked different."""
        ...


class FixtureArchive(Protocol):
    """Fixtures that are over, and those that are past their time."""

    async def archive_finished(self, run_id: str, policy: FootyPolicy, now: datetime) -> CompletedFixtures:
        """Complete goals whose deadline passed, then archive the fixtures that are over."""
        ...

    async def find_expired(self, policy: FootyPolicy, now: datetime, limit: int) -> tuple[Sequence[int], Sequence[str]]:
        """Fixtures older than the retention, and removed goals whose grace is over, with objects still to purge."""
        ...

    async def delete(self, fixture_ids: Sequence[int], event_ids: Sequence[str]) -> CleanupResult: ...


class Goals(Protocol):
    """Goals and their registers."""

    async def claim_searches(
        self, policy: FootyPolicy, limit: int, freeze: Callable[[str, str], tuple[str, str]]
    ) -> Sequence[GoalToSearch]:
        """Confirmed goals with a known scorer whose search has not begun. `freeze` makes the slugs (team, player)."""
        ...

    async def set_monitor_complete(self, event_id: str, workflow_id: str, now: datetime) -> None: ...

    async def removal_reason(self, event_id: str) -> str | None:
        """None while it is there; otherwise what became of it, in words."""
        ...

    async def load_scorer(self, event_id: str) -> tuple[str, str, int]:
        """Player, team and team id, as they are now."""
        ...

    async def load_minute(self, event_id: str) -> tuple[int, int]:
        """Elapsed and extra minute, as they are now."""
        ...

    async def record_query(self, event_id: str, query: str) -> None: ...

    async def load_search_start(self, event_id: str) -> datetime:
        """When the last search that worked began; before the first, when a poll last lacked the goal."""
        ...

    async def register_download(self, event_id: str, workflow_id: str, now: datetime) -> None: ...

    async def finish_download(self, event_id: str, workflow_id: str, outcome: str, now: datetime) -> None:
        """Also when it was never registered: then both at once."""
        ...

    async def count_downloads(self, event_id: str) -> DownloadCount: ...

    async def end_search(self, event_id: str, ended: SearchEnd, now: datetime) -> None: ...

    async def complete_if_ready(self, event_id: str, policy: FootyPolicy, now: datetime) -> CompletionResult: ...


@dataclass(frozen=True)
class SourceAnswer:
    """What one source said in one attempt, for the trail. `failure` is empty when it answered."""

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
        """The same attempt again replaces what was recorded of it."""
        ...

    async def save(self, event_id: str, attempt: int, videos: Sequence[FoundVideo], now: datetime) -> Sequence[int]:
        """Ids in the order of the videos. One row per goal and URL: what is known stays as it is."""
        ...

    async def choose(self, event_id: str, attempt: int, limit: int) -> Sequence[int]:
        """The longest that wait become CHOSEN, the others wait for the next attempt; the same again gives the same."""
        ...

    async def load(self, candidate_id: int) -> Candidate: ...

    async def settle(self, candidates: Iterable[SettledCandidate], now: datetime) -> None:
        """Outcomes only move forward: what is final stays."""
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

    A scene is made of all its copies: compared with the shown one only, the order of arrival would decide which
    scenes there are.
    """

    clip_id: int
    shown: bool
    video: Video
    fingerprint: bytes | None


class Clips(Protocol):
    """Stored clips. Popularity is counted from the candidates that point to a clip, so that nothing counts twice.

    `add`, `replace` and `count_in` keep the video and its fingerprint with the candidate; the same again is fine.
    """

    async def load_goal_data(self, event_id: str, candidate_ids: Sequence[int]) -> GoalData: ...

    async def load_copies(self, event_id: str, verified: bool | None = None) -> Sequence[StoredCopy]:
        """All copies of the goal's clips, or of those clips that are verified or not."""
        ...

    async def merge(self, clip_id: int, others: Sequence[int], now: datetime) -> Sequence[str]:
        """The other clips show the scene of this one: their copies move here and their share ids lead here.

        Keys of the objects that nobody uses any more.
        """
        ...

    async def add(self, event_id: str, uploaded: UploadedVideo, fingerprint: bytes | None, now: datetime) -> int: ...

    async def replace(
        self, clip_id: int, uploaded: UploadedVideo, fingerprint: bytes | None, now: datetime
    ) -> Sequence[str]:
        """The better file in the same slot, under the same share id; keys of the objects it no longer uses."""
        ...

    async def add_copy(self, clip_id: int, video: Video, fingerprint: bytes | None, now: datetime) -> None:
        """This video and what was merged into it are copies of that clip, in a file that is not better."""
        ...

    async def rank(self, event_id: str) -> None: ...

    async def find_unchecked(self, limit: int) -> Sequence[UncheckedClip]: ...

    async def record_check(self, clip_id: int, video: Video | None, settled: SettledCandidate | None) -> None:
        """The judge answered at last: what the clock says, or that the clip goes."""
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
    """Best first. `source` names who says so; an unknown team has none."""

    names: tuple[str, ...]
    source: str
