"""The effects of reading what an article links to, when a person asks for it, and of deleting cards."""

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PermanentError, RateLimitedError, TransientError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import QUICK
from pressbox.curator.articles.ports import Extractor, FetchedArticle, PageReader
from pressbox.curator.cards.domain.cards import LONGEST_BODY, EnrichmentKind, NewEnrichment
from pressbox.curator.cards.ports import Enrichments
from pressbox.curator.context.contracts import (
    Deleted,
    DeleteInput,
    FetchedLinks,
    FetchLinksInput,
    LinkResult,
)
from pressbox.curator.ingest.rate_limits import Turns
from pressbox.curator.library.call_options import BOUNDED
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.text.plain_text import shorten

LONGEST_REASON = 300
NOT_OF_THIS_ENTRY = "The article does not link to this address."
ASKED_FOR_A_PAUSE = "This host asked for a pause. Try it again later."
TOO_LONG = "The page is too long to be kept here."


class LinkedPageActivities:
    """A page that cannot be had is a card with its reason; trouble of our own parts is an error, and is retried."""

    def __init__(
        self, enrichments: Enrichments, reader: PageReader, extractor: Extractor, turns: Turns, now: Clock = utc_now
    ) -> None:
        self._enrichments = enrichments
        self._reader = reader
        self._extractor = extractor
        self._turns = turns
        self._now = now

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def fetch_and_save_entry_links(self, input: FetchLinksInput) -> FetchedLinks:
        known = set(await self._enrichments.known_links(input.entry_id, input.urls))
        async with Heartbeat():
            results = [
                await self._fetched(input.entry_id, url, input.policy)
                if url in known
                else LinkResult(url=shorten(url), fetched=False, reason=NOT_OF_THIS_ENTRY)
                for url in dict.fromkeys(input.urls)
            ]
        return FetchedLinks(results=tuple(results))

    @activity.defn
    @call_with(QUICK)
    async def delete_enrichment(self, input: DeleteInput) -> Deleted:
        return Deleted(deleted=await self._enrichments.delete(input.enrichment_id))

    async def _fetched(self, entry_id: int, url: str, policy: CuratorPolicy) -> LinkResult:
        found = await self._read(url, policy)
        if isinstance(found, FetchedArticle) and len(found.html) > LONGEST_BODY:
            found = TOO_LONG
        if isinstance(found, str):
            card = NewEnrichment(entry_id, EnrichmentKind.LINK, url, "", url, reason=found)
        else:
            facts = {"author": found.author, "language": found.language, "words": len(found.text.split())}
            card = NewEnrichment(
                entry_id,
                EnrichmentKind.LINK,
                url,
                shorten(found.title, 300),
                found.final_url or url,
                found.html,
                facts,
            )
        await self._enrichments.save(card, self._now())
        return LinkResult(url=shorten(url), fetched=not card.reason, title=shorten(card.title), reason=card.reason)

    async def _read(self, url: str, policy: CuratorPolicy) -> FetchedArticle | str:
        if await self._turns.wait(url, policy.host_delay) is not None:
            return ASKED_FOR_A_PAUSE
        try:
            page = await self._reader.read(url, policy.page_bytes)
            return await self._extractor.extract(page, ())
        except RateLimitedError as error:
            if error.retry_after is not None:
                await self._turns.hold(url, self._now() + error.retry_after)
            return shorten(error.message, LONGEST_REASON)
        except (TransientError, PermanentError) as error:
            return shorten(error.message, LONGEST_REASON)
