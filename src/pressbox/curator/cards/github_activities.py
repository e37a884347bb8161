"""The effects of looking for software on GitHub: search, choice, README, card."""

import hashlib
from dataclasses import asdict, replace
from datetime import timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import NotFoundError, RateLimitedError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import QUICK
from pressbox.curator.cards.domain.cards import EnrichmentKind, NewEnrichment
from pressbox.curator.cards.domain.repositories import Repository, linked_repository
from pressbox.curator.cards.github_ports import Repositories, RepositoryChooser
from pressbox.curator.cards.ports import Enrichments
from pressbox.curator.context.contracts import (
    FetchedReadme,
    FetchReadmeInput,
    GithubCandidates,
    GithubChoice,
    RepositoryFacts,
    RerankGithubInput,
    SavedEnrichment,
    SaveGithubInput,
    SearchGithubInput,
    readme_key,
)
from pressbox.curator.context.ports import Contexts
from pressbox.curator.ingest.rate_limits import Turns
from pressbox.curator.library.call_options import BOUNDED
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.models.waiting import UNAVAILABLE, retry_later

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
        turns: Turns,
        url: str,
        now: Clock = utc_now,
    ) -> None:
        self._contexts = contexts
        self._enrichments = enrichments
        self._repositories = repositories
        self._chooser = chooser
        self._objects = objects
        self._turns = turns
        self._url = url
        self._now = now

    @activity.defn
    @call_with(BOUNDED)
    async def search_github_candidates(self, input: SearchGithubInput) -> GithubCandidates:
        """A repository that the article links to is the only candidate; otherwise what a search finds."""
        context = (await self._contexts.of([input.entry_id])).get(input.entry_id)
        linked = linked_repository(input.name, () if context is None else context.links)
        turn = await self._turns.wait(self._url, input.policy.host_delay)
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
        turn = await self._turns.wait(self._url, input.policy.host_delay)
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
            await self._turns.hold(self._url, self._now() + (error.retry_after or timedelta()))
