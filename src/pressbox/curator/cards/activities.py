"""The effects of looking for software on GitHub, and what they need: search, choice, README, card."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import NotFoundError, PermanentError, RateLimitedError, TransientError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import BOUNDED, QUICK
from pressbox.curator.articles.domain import Extractor, FetchedArticle, PageReader
from pressbox.curator.cards.contracts import (
    Deleted,
    DeleteInput,
    FetchedLinks,
    FetchedReadme,
    FetchLinksInput,
    FetchReadmeInput,
    GithubCandidates,
    GithubChoice,
    LinkResult,
    RepositoryFacts,
    RerankGithubInput,
    SavedEnrichment,
    SaveGithubInput,
    SearchGithubInput,
    readme_key,
)
from pressbox.curator.cards.domain import (
    LONGEST_BODY,
    CardPage,
    ContextView,
    EnrichmentKind,
    NewEnrichment,
    Repository,
    linked_repository,
)
from pressbox.curator.context.activities import Contexts
from pressbox.curator.ingest.fetcher import HostRateLimiter
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.models.waiting import UNAVAILABLE, retry_later
from pressbox.curator.text.plain_text import shorten


class Enrichments(Protocol):
    """What a person asks for is one of their entries, or a NotFoundError."""

    async def find_links(self, entry_id: int, urls: Sequence[str]) -> Sequence[str]:
        """Those of the addresses that the entry's text has."""
        ...

    async def save(self, enrichment: NewEnrichment, now: datetime) -> int | None:
        """In place of the one with its key. None when the entry is gone."""
        ...

    async def delete(self, enrichment_id: int) -> bool: ...

    async def hide(self, user_id: int, enrichment_id: int) -> int:
        """From all pages, at once; the id of its entry."""
        ...

    async def panel(self, user_id: int, entry_id: int) -> ContextView: ...

    async def page(self, user_id: int, enrichment_id: int) -> CardPage: ...

    async def require_visible(self, user_id: int, entry_ids: Sequence[int]) -> None: ...


class ContextWorkflows(Protocol):
    """Each gives the id of the workflow."""

    async def extract(self, entry_id: int, again: bool) -> str: ...

    async def collect(self, entry_ids: Sequence[int], again: bool) -> str: ...

    async def fetch_links(self, entry_id: int, urls: Sequence[str]) -> str: ...

    async def delete_enrichment(self, enrichment_id: int) -> str: ...


class Repositories(Protocol):
    """Trouble of the other side is a TransientError, with the time to come back when it says one."""

    async def search(self, words: str, limit: int) -> Sequence[Repository]: ...

    async def get(self, full_name: str) -> Repository | None:
        """None when there is none of this name."""
        ...

    async def readme(self, repository: Repository) -> str:
        """Sanitised HTML; empty when there is none."""
        ...


@dataclass(frozen=True)
class Choice:
    """`repository` is None for "none of these"; `by` says who chose: a model by its name, or rules."""

    repository: Repository | None
    by: str


class RepositoryChooser(Protocol):
    """Which of the repositories is the software that the text speaks of; none of them is an answer too."""

    async def choose(
        self, name: str, found: Sequence[Repository], text: str, entry_id: int, feed_id: int
    ) -> Choice: ...


MOST_CANDIDATES = 6
ASKED_FOR_A_PAUSE = "GitHub asked for a pause."


class RepositoryActivities:
    """What GitHub or a model cannot do now waits, with the reason; nothing is taken for "none" that was not asked."""

    def __init__(
        self,
        contexts: Contexts,
        enrichments: Enrichments,
        repositories: Repositories,
        chooser: RepositoryChooser,
        objects: ObjectStore,
        rate_limiter: HostRateLimiter,
        url: str,
        now: Clock = utc_now,
    ) -> None:
        self._contexts = contexts
        self._enrichments = enrichments
        self._repositories = repositories
        self._chooser = chooser
        self._objects = objects
        self._rate_limiter = rate_limiter
        self._url = url
        self._now = now

    @activity.defn
    @call_with(BOUNDED)
    async def search_github_candidates(self, input: SearchGithubInput) -> GithubCandidates:
        """A repository that the article links to is the only candidate; otherwise what a search finds."""
        context = (await self._contexts.of([input.entry_id])).get(input.entry_id)
        linked = linked_repository(input.name, () if context is None else context.links)
        turn = await self._rate_limiter.wait(self._url, input.policy.host_delay)
        if turn is not None:
            return GithubCandidates(retry_at=turn, reason=ASKED_FOR_A_PAUSE)
        try:
            known = await self._repositories.get(linked) if linked else None
            if known is not None:
                found = [replace(known, linked=True)]
            else:
                found = list(await self._repositories.search(input.name, MOST_CANDIDATES))
        except UNAVAILABLE as error:
            await self._hold(error)
            retry_at, reason = retry_later(error, input.policy, self._now())
            return GithubCandidates(retry_at=retry_at, reason=reason)
        return GithubCandidates(candidates=tuple(RepositoryFacts(**asdict(one)) for one in found[:MOST_CANDIDATES]))

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def rerank_github_results(self, input: RerankGithubInput) -> GithubChoice:
        source = await self._contexts.source(input.entry_id)
        if source is None or not input.candidates:
            return GithubChoice()
        found = [Repository(**candidate.model_dump()) for candidate in input.candidates]
        async with Heartbeat():
            try:
                chosen = await self._chooser.choose(input.name, found, source.text, source.entry_id, source.feed_id)
            except UNAVAILABLE as error:
                retry_at, reason = retry_later(error, input.policy, self._now())
                return GithubChoice(retry_at=retry_at, reason=reason)
        repository = chosen.repository
        return GithubChoice(chosen=None if repository is None else RepositoryFacts(**asdict(repository)), by=chosen.by)

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def fetch_github_readme(self, input: FetchReadmeInput) -> FetchedReadme:
        turn = await self._rate_limiter.wait(self._url, input.policy.host_delay)
        if turn is not None:
            return FetchedReadme(retry_at=turn, reason=ASKED_FOR_A_PAUSE)
        async with Heartbeat():
            try:
                html = await self._repositories.readme(Repository(**input.repository.model_dump()))
            except UNAVAILABLE as error:
                await self._hold(error)
                retry_at, reason = retry_later(error, input.policy, self._now())
                return FetchedReadme(retry_at=retry_at, reason=reason)
            if not html:
                return FetchedReadme()
            key = readme_key(hashlib.md5(html.encode(), usedforsecurity=False).hexdigest())
            await self._objects.put(key, html.encode())
        return FetchedReadme(key=key)

    @activity.defn
    @call_with(QUICK)
    async def save_github_enrichment(self, input: SaveGithubInput) -> SavedEnrichment:
        facts = input.repository.model_dump(mode="json", exclude={"full_name", "url", "linked"})
        card = NewEnrichment(
            entry_id=input.entry_id,
            kind=EnrichmentKind.GITHUB,
            key=input.repository.full_name,
            title=input.repository.full_name,
            url=input.repository.url,
            body_html=await self._readme(input.readme_key),
            facts={**facts, "name": input.name, "by": input.by},
        )
        return SavedEnrichment(enrichment_id=await self._enrichments.save(card, self._now()))

    async def _readme(self, key: str) -> str:
        """It stays where it is: the same README belongs to several entries, and the scratch is emptied by itself."""
        try:
            return (await self._objects.get(key)).decode() if key else ""
        except NotFoundError:
            return ""

    async def _hold(self, error: Exception) -> None:
        """Nobody of this instance asks before GitHub said so."""
        if isinstance(error, RateLimitedError) and (error.retry_after or timedelta()) > timedelta():
            await self._rate_limiter.pause(self._url, self._now() + (error.retry_after or timedelta()))


LONGEST_REASON = 300
NOT_OF_THIS_ENTRY = "The article does not link to this address."
ASKED_FOR_A_PAUSE = "This host asked for a pause. Try it again later."
TOO_LONG = "The page is too long to be kept here."


class LinkedPageActivities:
    """A page that cannot be had is a card with its reason; trouble of our own parts is an error, and is retried."""

    def __init__(
        self,
        enrichments: Enrichments,
        reader: PageReader,
        extractor: Extractor,
        rate_limiter: HostRateLimiter,
        now: Clock = utc_now,
    ) -> None:
        self._enrichments = enrichments
        self._reader = reader
        self._extractor = extractor
        self._rate_limiter = rate_limiter
        self._now = now

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def fetch_and_save_entry_links(self, input: FetchLinksInput) -> FetchedLinks:
        known = set(await self._enrichments.find_links(input.entry_id, input.urls))
        async with Heartbeat():
            results = [
                await self._fetch_page(input.entry_id, url, input.policy)
                if url in known
                else LinkResult(url=shorten(url), fetched=False, reason=NOT_OF_THIS_ENTRY)
                for url in dict.fromkeys(input.urls)
            ]
        return FetchedLinks(results=tuple(results))

    @activity.defn
    @call_with(QUICK)
    async def delete_enrichment(self, input: DeleteInput) -> Deleted:
        return Deleted(deleted=await self._enrichments.delete(input.enrichment_id))

    async def _fetch_page(self, entry_id: int, url: str, policy: CuratorPolicy) -> LinkResult:
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
        if await self._rate_limiter.wait(url, policy.host_delay) is not None:
            return ASKED_FOR_A_PAUSE
        try:
            page = await self._reader.read(url, policy.page_bytes)
            return await self._extractor.extract(page, ())
        except RateLimitedError as error:
            if error.retry_after is not None:
                await self._rate_limiter.pause(url, self._now() + error.retry_after)
            return shorten(error.message, LONGEST_REASON)
        except (TransientError, PermanentError) as error:
            return shorten(error.message, LONGEST_REASON)
