"""Compares texts of feeds in the child processes of the parser pool: what one of them breaks or takes is not ours."""

from collections.abc import Sequence

from pressbox.core.errors import ConfigurationError, PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.processes.calls import Terms
from pressbox.core.processes.pool import ChildNotStartedError
from pressbox.curator.ingest.edits import Change, Edit, compare_all
from pressbox.curator.library.parser_pool import ParserPool

log = get_logger(__name__)

_OWNER = "feeds"


class PooledComparer:
    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    async def compare(self, changes: tuple[Change, ...]) -> Sequence[Edit]:
        """Compare in one call. That no parser runs is our own fault and raised as it is."""
        try:
            return await self._parsers.run_by(Terms(owner=_OWNER), compare_all, changes)
        except (ChildNotStartedError, ConfigurationError):
            raise
        except PressboxError as error:
            log.warning("texts_not_compared", msg=f"Texts of a feed broke their comparison: {error.message}")
            return [Edit.WORDS] * len(changes)
