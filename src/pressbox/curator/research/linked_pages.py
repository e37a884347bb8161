"""Pages that articles link to: read politely and through the guard, for one note, and not kept."""

from pressbox.core.errors import TransientError
from pressbox.curator.articles.ports import Extractor, PageReader
from pressbox.curator.ingest.rate_limits import HostRateLimiter
from pressbox.curator.library.domain.policy import CuratorPolicy


class GuardedLinkedPages:
    def __init__(self, reader: PageReader, extractor: Extractor, rate_limiter: HostRateLimiter) -> None:
        self._reader = reader
        self._extractor = extractor
        self._rate_limiter = rate_limiter

    async def text(self, url: str, policy: CuratorPolicy) -> str:
        if await self._rate_limiter.wait(url, policy.host_delay) is not None:
            raise TransientError("This host asked for a pause.")
        page = await self._reader.read(url, policy.page_bytes)
        return (await self._extractor.extract(page, ())).text
