"""Downloads a clip: by the address of the file where a source names it, otherwise from its page."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from pressbox.core.errors import ConfigurationError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.proxy import GuardedProxy
from pressbox.core.logs import get_logger
from pressbox.footy.adapters.downloads.dash import UnsupportedPlaylistError
from pressbox.footy.adapters.downloads.direct import PlaylistError, copy_file, fetch_file
from pressbox.footy.adapters.downloads.files import VIDEO_FILE, remove_on_failure
from pressbox.footy.adapters.downloads.joined import JoinSound, fetch_joined
from pressbox.footy.adapters.downloads.page_program import is_of_stranger
from pressbox.footy.adapters.downloads.pages import fetch_from_page
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import ClipGoneError, NotAVideoError
from pressbox.footy.ports.outside import DownloadedFile, DownloadLimits
from pressbox.footy.x.cookies import write_netscape
from pressbox.footy.x.session import StoredSession

log = get_logger(__name__)

PAGES_AT_ONCE = 3
DASH_ENDING = ".mpd"
_HOSTS_OF_X = ("x.com", "twitter.com")


class ClipDownloader:
    """`archive` is the folder of the `folder` source, the only place on this machine that is read.

    `session` is the login at X, which pages of X get. `join` puts picture and sound of two files into one.
    """

    def __init__(
        self,
        http: GuardedClient,
        proxy: GuardedProxy,
        archive: Path | None = None,
        session: StoredSession | None = None,
        join: JoinSound | None = None,
    ) -> None:
        self._join = join
        self._session = session
        self._http = http
        self._proxy = proxy
        self._archive = archive
        self._pages = asyncio.Semaphore(PAGES_AT_ONCE)
        # Kept while held or awaited. One page of a stranger's host at once, so that none takes all places.
        self._hosts: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def fetch(self, video: FoundVideo, target: Path, limits: DownloadLimits) -> DownloadedFile:
        """The time limit holds for all ways together, including the wait for a free slot."""
        deadline = time.monotonic() + limits.time.total_seconds()
        with remove_on_failure(target):
            return await self._fetch_any(video, target, limits, deadline)

    async def _fetch_any(
        self, video: FoundVideo, target: Path, limits: DownloadLimits, deadline: float
    ) -> DownloadedFile:
        url = video.media_url or video.video_page_url
        if urlsplit(url).scheme == "file":
            return await asyncio.to_thread(copy_file, url, self._archive, target, limits)
        if video.media_url is None and not VIDEO_FILE.search(urlsplit(url).path):
            return await self._from_page(url, target, limits, deadline)
        try:
            if self._join is not None and urlsplit(url).path.endswith(DASH_ENDING):
                return await fetch_joined(
                    self._http, url, target, limits, lambda: timedelta(seconds=_seconds_left(deadline)), self._join
                )
            return await fetch_file(self._http, url, target, limits)
        except (PlaylistError, UnsupportedPlaylistError):
            return await self._from_page(url, target, limits, deadline)
        except (ClipGoneError, NotAVideoError):
            # The address of a file may expire within minutes; that of its page stays.
            if video.video_page_url == url:
                raise
        return await self._from_page(video.video_page_url, target, limits, deadline)

    async def _from_page(self, url: str, target: Path, limits: DownloadLimits, deadline: float) -> DownloadedFile:
        async with self._turn_of(url, deadline):
            rest = replace(limits, time=timedelta(seconds=_seconds_left(deadline)))
            cookies = await asyncio.to_thread(self.load_cookies, url)
            return await fetch_from_page(self._proxy, url, target, rest, cookies, self._join)

    @asynccontextmanager
    async def _turn_of(self, url: str, deadline: float) -> AsyncIterator[None]:
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(_seconds_left(deadline)):
                    if is_of_stranger(url):
                        host = (urlsplit(url).hostname or "").lower()
                        await held.enter_async_context(self._hosts.setdefault(host, asyncio.Lock()))
                    await held.enter_async_context(self._pages)
            except TimeoutError as error:
                raise TransientError("Other downloads used up the time for this clip.") from error
            yield

    def load_cookies(self, url: str) -> str:
        """The login at X, for pages of X: many posts are shown to members only."""
        host = (urlsplit(url).hostname or "").lower()
        if self._session is None or not any(host == own or host.endswith(f".{own}") for own in _HOSTS_OF_X):
            return ""
        try:
            cookies = self._session.load()
        except ConfigurationError as error:
            log.warning("x_session_unreadable", msg=error.message)
            return ""
        return write_netscape(cookies) if cookies else ""


def _seconds_left(deadline: float) -> float:
    return max(0.1, deadline - time.monotonic())
