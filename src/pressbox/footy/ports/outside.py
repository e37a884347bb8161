"""What footy needs from the outside world: fixtures, names, clips, judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Protocol

from pressbox.footy.domain.candidates import FoundVideo, Probe
from pressbox.footy.domain.fixtures import ObservedFixture
from pressbox.footy.domain.judgements import FrameJudgement
from pressbox.footy.ports.storage import Aliases, RawFixture, TeamName


@dataclass(frozen=True)
class DayAnswer:
    """The fixtures of one day. What could not be read is named in `problems` and does not stop the rest."""

    fixtures: Sequence[ObservedFixture]
    problems: Sequence[str] = ()


@dataclass(frozen=True)
class LiveAnswer:
    """Raw fixtures by id, as the API gave them: they are kept before they are understood.

    `missing` are ids that the API did not answer, with the reason.
    """

    fixtures: Mapping[int, RawFixture]
    missing: Mapping[int, str]
    calls: int = 1


class FixturesApi(Protocol):
    """API-Football. Errors in a 200 answer, HTML and truncated JSON raise; they are never "no fixtures"."""

    async def fetch_day(self, day: date) -> DayAnswer: ...

    async def fetch_by_ids(self, fixture_ids: Sequence[int]) -> LiveAnswer:
        """One call, at most 20 ids."""
        ...


class AliasSource(Protocol):
    """An outage raises TransientError; it is never "no aliases"."""

    async def find_aliases(self, team: TeamName) -> Aliases: ...


@dataclass(frozen=True)
class SearchRequest:
    query: str
    player_names: tuple[str, ...]
    team_aliases: tuple[str, ...]
    max_results: int
    max_age: timedelta
    exclude_urls: frozenset[str] = frozenset()


class ClipSource(Protocol):
    """A place where clips are posted. One that fails raises a PressboxError with words for people."""

    @property
    def name(self) -> str: ...

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]: ...


@dataclass(frozen=True)
class DownloadLimits:
    largest_bytes: int
    time: timedelta


@dataclass(frozen=True)
class DownloadedFile:
    size: int
    md5: str


class Downloader(Protocol):
    """Brings a clip into a local file, or raises; afterwards there is the file and nothing else.

    RefusedAddressError, TooLargeError and NotAVideoError (permanent) say that another try changes nothing.
    """

    async def fetch(self, video: FoundVideo, target: Path, limits: DownloadLimits) -> DownloadedFile: ...


class Media(Protocol):
    """Reads video files in processes of their own. A file that cannot be read is a PermanentError that says why."""

    async def probe(self, path: Path) -> Probe: ...

    async def fingerprint(self, path: Path) -> bytes:
        """In its stored form: what it means is known to the media processes only."""
        ...

    async def find_same_scene(self, query: bytes, references: Mapping[int, bytes]) -> frozenset[int]:
        """Which of these fingerprints show a scene of the query."""
        ...

    async def take_frames(self, path: Path, fractions: Sequence[float]) -> Sequence[bytes]:
        """JPEG pictures at these parts of the duration."""
        ...

    async def take_poster(self, path: Path) -> bytes: ...

    async def make_playable(self, path: Path, target: Path) -> Probe:
        """Write a file that browsers play and seek; the content is the same."""
        ...


class Judge(Protocol):
    """Looks at frames. One that is down raises TransientError; that is never "not football"."""

    @property
    def name(self) -> str: ...

    async def judge(self, frames: Sequence[bytes]) -> Sequence[FrameJudgement]: ...
