"""What footy needs from the outside world: fixtures, names, clips, judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Protocol, runtime_checkable

from pressbox.footy.domain.candidates import FoundVideo, Probe
from pressbox.footy.domain.directory import Entry
from pressbox.footy.domain.film_rule import Sighting
from pressbox.footy.domain.fixtures import ObservedFixture
from pressbox.footy.domain.judgements import FrameJudgement
from pressbox.footy.ports.storage import Aliases, RawFixture, TeamName


@dataclass(frozen=True)
class DayAnswer:
    """The fixtures of one day. `problems` says what could not be read."""

    fixtures: Sequence[ObservedFixture]
    problems: Sequence[str] = ()


@dataclass(frozen=True)
class LiveAnswer:
    """Raw fixtures by id, which are stored before they are parsed, and why the API did not answer the `missing` ids."""

    fixtures: Mapping[int, RawFixture]
    missing: Mapping[int, str]
    calls: int = 1


class FixturesApi(Protocol):
    """API-Football. Errors inside a 200 answer, HTML and truncated JSON raise; they never mean "no fixtures"."""

    async def fetch_day(self, day: date) -> DayAnswer: ...

    async def fetch_by_ids(self, fixture_ids: Sequence[int]) -> LiveAnswer:
        """Make one call with at most 20 ids."""
        ...

    async def fetch_waiting(self, kickoffs: Mapping[int, datetime]) -> LiveAnswer:
        """Ask for at most 20 matches that are not on, by id and known kick-off, with few calls."""
        ...

    async def fetch_status(self) -> object:
        """Have the budget take over what the account may do now. It costs no request."""
        ...


class NamesApi(Protocol):
    """API-Football's search by name. The text has three or more plain letters; a failure never means "no such team"."""

    async def search_teams(self, text: str) -> Sequence[Entry]: ...

    async def search_leagues(self, text: str) -> Sequence[Entry]: ...


class AliasSource(Protocol):
    """Finds the aliases of a team. An outage raises TransientError; it never means "no aliases"."""

    async def find_aliases(self, team: TeamName) -> Aliases: ...


@dataclass(frozen=True)
class SearchRequest:
    query: str
    player_names: tuple[str, ...]
    team_aliases: tuple[str, ...]
    max_results: int
    max_age: timedelta
    exclude_urls: frozenset[str] = frozenset()
    # Goes first where an account has few searches left.
    urgent: bool = True


class ClipSource(Protocol):
    """A place where clips are posted. A failure raises a PressboxError with a message for people."""

    @property
    def name(self) -> str: ...

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]: ...


@runtime_checkable
class HearsTime(Protocol):
    """A source whose answers carry the time."""

    @property
    def clock_ahead_seconds(self) -> float | None:
        """How far our clock was ahead at the last answer; None before there was one."""
        ...


@dataclass(frozen=True)
class DownloadLimits:
    largest_bytes: int
    time: timedelta


@dataclass(frozen=True)
class DownloadedFile:
    size: int
    md5: str


class Downloader(Protocol):
    """Downloads a clip into a local file, or raises and leaves nothing behind.

    RefusedAddressError, TooLargeError and NotAVideoError are permanent: another attempt would not help.
    """

    async def fetch(self, video: FoundVideo, target: Path, limits: DownloadLimits) -> DownloadedFile: ...


class Media(Protocol):
    """Reads video files in child processes. An unreadable file raises a PermanentError that says why."""

    async def probe(self, path: Path) -> Probe: ...

    async def fingerprint(self, path: Path, progress: Path | None = None) -> bytes:
        """Return the fingerprint in its stored form, which only the media processes understand.

        The number of frames read so far is written to the file `progress`.
        """
        ...

    async def find_same_scene(self, query: bytes, references: Mapping[int, bytes]) -> frozenset[int]:
        """Find the references that show a scene of the query."""
        ...

    async def see_through(self, query: bytes, references: Mapping[int, bytes]) -> Mapping[int, Sighting]:
        """Find the references that show a scene of the query behind a crop, a turn or a frame, and say behind which.

        Costs much more than `find_same_scene`. What was stored without a film is never among them.
        """
        ...

    async def take_frames(self, path: Path, fractions: Sequence[float]) -> Sequence[bytes]:
        """Take JPEG pictures at these fractions of the duration."""
        ...

    async def take_poster(self, path: Path) -> bytes: ...

    async def make_playable(self, path: Path, target: Path) -> Probe:
        """Write a file with the same content that browsers can play and seek."""
        ...


class Judge(Protocol):
    """Judges frames. A judge that is down raises TransientError; that never means "not football"."""

    @property
    def name(self) -> str: ...

    async def judge(self, frames: Sequence[bytes]) -> Sequence[FrameJudgement]: ...
