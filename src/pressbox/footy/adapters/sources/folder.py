"""Clips in a directory or behind an HTTP index, each with a JSON side-car: for tests, demos and private archives.

`goal.mp4` is described by `goal.mp4.json` or `goal.json`: `{"text": …, "posted_at": …, "duration_seconds": …,
"post_url": …}`. A file without one is described by its name and its time.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

from pydantic import AwareDatetime, ValidationError

from pressbox.core.http.client import GuardedClient
from pressbox.core.logs import get_logger
from pressbox.footy.adapters.sources.client import Clock, SourceClient, SourceModel, utc_now
from pressbox.footy.adapters.sources.selection import select_matching
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import SourceError
from pressbox.footy.ports.outside import ClipSource, SearchRequest
from pressbox.footy.settings import FootySettings

log = get_logger(__name__)

NAME = "folder"
VIDEO_ENDINGS = frozenset({".mp4", ".m4v", ".mov", ".webm", ".mkv", ".ts"})
SIDE_CARS_AT_ONCE = 8
_LINK = re.compile(r"<a\s[^<>]*href=[\"']([^\"'>]+)[\"']", re.IGNORECASE)


class SideCar(SourceModel):
    text: str = ""
    posted_at: AwareDatetime | None = None
    duration_seconds: float | None = None
    post_url: str = ""


class IndexedFile(SourceModel):
    """One entry of a JSON index in nginx's form. It may include the side-car."""

    name: str
    mtime: str = ""
    side_car: SideCar | None = None


class FolderSource:
    """A directory of this machine. The downloader accepts `media_url`, a file: address, for this directory only."""

    def __init__(self, directory: Path, clock: Clock = utc_now) -> None:
        self._directory = directory
        self._clock = clock

    @property
    def name(self) -> str:
        return NAME

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]:
        try:
            found = await asyncio.to_thread(lambda: [self._video(file) for file in self._list_files()])
        except OSError as error:
            raise SourceError(f"{NAME}: the directory cannot be read ({error.strerror}).") from error
        return select_matching(found, request, self._clock())

    def _list_files(self) -> Iterable[Path]:
        if not self._directory.is_dir():
            raise SourceError(f"{NAME}: {self._directory} is not a directory.")
        return sorted(file for file in self._directory.rglob("*") if file.suffix.lower() in VIDEO_ENDINGS)

    def _video(self, file: Path) -> FoundVideo:
        described = next((car for car in side_car_names(file.name) if (file.parent / car).is_file()), None)
        text = (file.parent / described).read_bytes() if described else b""
        modified = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        return found_video(file.resolve().as_uri(), file.name, parse_side_car(text, file.name), modified)


class HttpFolderSource:
    """The index of a web server: a page with links, or JSON (`[{"name": …, "mtime": …}]`)."""

    def __init__(self, url: str, http: GuardedClient, clock: Clock = utc_now) -> None:
        self._url = url.rstrip("/") + "/"
        self._client = SourceClient(NAME, http, clock)
        self._side_cars: dict[str, SideCar] = {}

    @property
    def name(self) -> str:
        return NAME

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]:
        files = await self._load_index()
        gate = asyncio.Semaphore(SIDE_CARS_AT_ONCE)
        names = {file.name for file in files}
        videos = [file for file in files if Path(file.name).suffix.lower() in VIDEO_ENDINGS]
        found = await asyncio.gather(*(self._video(file, names, gate) for file in videos))
        return select_matching(found, request, self._client.now())

    async def _load_index(self) -> list[IndexedFile]:
        answer = await self._client.fetch(self._url, headers={"Accept": "application/json, text/html;q=0.9"})
        if answer.headers.get("content-type", "").startswith("text/html"):
            links = (unquote(unescape(link)) for link in _LINK.findall(answer.body.decode("utf-8", "replace")))
            return [IndexedFile(name=link) for link in dict.fromkeys(links) if "/" not in link and "?" not in link]
        entries = self._client.parse_json(answer)
        if not isinstance(entries, list):
            raise SourceError(f"{NAME}: the index is not a list of files.")
        return self._client.parse_each(entries, IndexedFile)

    async def _video(self, file: IndexedFile, names: set[str], gate: asyncio.Semaphore) -> FoundVideo:
        url = urljoin(self._url, quote(file.name))
        described = file.side_car or self._side_cars.get(url)
        car = next((name for name in side_car_names(file.name) if name in names), None)
        if described is None and car is not None:
            async with gate:
                described = parse_side_car((await self._client.fetch(urljoin(self._url, quote(car)))).body, file.name)
            # Side-cars do not change; a long archive is not read again every minute.
            self._side_cars[url] = described
        return found_video(url, file.name, described or SideCar(), _http_time(file.mtime))


def folder_source(place: str, http: GuardedClient, clock: Clock = utc_now) -> ClipSource:
    """Make the source for a web address or a directory."""
    if _is_web_address(place):
        return HttpFolderSource(place, http, clock)
    return FolderSource(Path(place), clock)


def is_configured(settings: FootySettings) -> bool:
    return bool(settings.folder)


def from_settings(settings: FootySettings, http: GuardedClient) -> ClipSource | None:
    return folder_source(settings.folder, http) if settings.folder else None


def archive_directory(settings: FootySettings) -> Path | None:
    """The directory from which files may be copied; None for a web address."""
    return Path(settings.folder) if settings.folder and not _is_web_address(settings.folder) else None


def side_car_names(file: str) -> tuple[str, str]:
    return f"{file}.json", f"{Path(file).stem}.json"


def parse_side_car(text: bytes, file: str) -> SideCar:
    """Parse a side-car; without a readable one the file is described by its name."""
    if not text:
        return SideCar()
    try:
        return SideCar.model_validate(json.loads(text))
    except (ValueError, ValidationError):
        log.warning(
            "side_car_unreadable", msg="A side-car could not be read; the file is described by its name", file=file
        )
        return SideCar()


def found_video(url: str, file: str, described: SideCar, modified: datetime | None) -> FoundVideo:
    return FoundVideo(
        source=NAME,
        video_page_url=url,
        post_url=described.post_url or url,
        post_text=described.text or re.sub(r"[-_.]+", " ", Path(file).stem),
        media_url=url,
        duration_seconds=described.duration_seconds,
        posted_at=described.posted_at or modified,
    )


def _is_web_address(place: str) -> bool:
    return urlsplit(place).scheme in ("http", "https")


def _http_time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC)
    except ValueError:
        return None
