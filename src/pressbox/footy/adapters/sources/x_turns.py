"""The searches of the account at X: one row that all processes share, counted before each search."""

import hashlib
from collections.abc import Sequence

from pressbox.core.clock import Clock, utc_now
from pressbox.core.db.database import Database
from pressbox.footy.adapters.locked_state import LockedState
from pressbox.footy.adapters.sources.x_browser import NAME
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import SourceBusyError
from pressbox.footy.domain.search_turns import SearchTurns, note_refusal, note_success, take_turn
from pressbox.footy.ports.outside import ClipSource, SearchRequest
from pressbox.footy.settings import FootySettings


class SharedTurns:
    """A search service, of which every search takes a turn of its account first.

    A refusal that one process hears holds for all. A turn of a process that dies is lost, which is never too many.
    """

    def __init__(self, source: ClipSource, state: LockedState[SearchTurns], most: int, now: Clock = utc_now) -> None:
        self._source = source
        self._state = state
        self._most = most
        self._now = now

    @property
    def name(self) -> str:
        return self._source.name

    async def close(self) -> None:
        close = getattr(self._source, "close", None)
        if close is not None:
            await close()

    async def search(self, request: SearchRequest) -> Sequence[FoundVideo]:
        wait = await self._state.change(lambda turns: take_turn(turns, self._most, self._now(), urgent=request.urgent))
        if wait is not None:
            seconds = max(1, round(wait.total_seconds()))
            raise SourceBusyError(
                f"{NAME}: the searches of this account are used up for now; the next one is possible in {seconds} s.",
                retry_after=wait,
            )
        try:
            found = await self._source.search(request)
        except SourceBusyError as error:
            asked = error.retry_after
            await self._state.change(lambda turns: note_refusal(turns, self._now(), asked))
            raise
        await self._state.change(lambda turns: (note_success(turns), None))
        return found


def share_turns(sources: Sequence[ClipSource], database: Database, settings: FootySettings) -> tuple[ClipSource, ...]:
    """The same sources; the one that drives a browser counts with all other processes."""
    account = hashlib.sha256((settings.x_browser_url or "").encode()).hexdigest()[:16]
    state = LockedState(database, f"{NAME}:{account}", SearchTurns())
    return tuple(
        SharedTurns(source, state, settings.x_searches) if source.name == NAME else source for source in sources
    )
