"""Reads feeds off the event loop, and keeps what a hostile document does to the reader away from everybody else."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pressbox.core.logs import get_logger
from pressbox.curator.feeds.parser import NotAFeedError, parse
from pressbox.curator.library.domain.feeds import ParsedFeed

log = get_logger(__name__)

# One reads as much as two, since Python runs one at a time; but a slow document then holds up only half of them.
AT_ONCE = 2


class FeedReader:
    """Threads of its own: a feed that takes long must not hold up whoever else needs a thread."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="feed")

    async def read(self, content: bytes, content_type: str, url: str, limit: int | None = None) -> ParsedFeed:
        """NotAFeedError, and nothing else, when it is none."""
        work = partial(parse, content, content_type, url, limit=limit)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except NotAFeedError:
            raise
        # Feeds are read by the page: a document that breaks the reader in a new way must fail alone, and be noticed.
        except Exception as error:
            log.exception("feed_unreadable", msg="A feed broke the reader", url=url)
            raise NotAFeedError(f"The feed could not be read ({type(error).__name__}).") from error
