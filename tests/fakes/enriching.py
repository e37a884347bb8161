"""Hand-written doubles of what context, cards and links need: entries with texts, a GitHub, a model, in memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from pressbox.core.errors import NotFoundError, PermanentError, PressboxError
from pressbox.core.models.client import Question, Reply
from pressbox.curator.articles.domain import FetchedArticle, Page
from pressbox.curator.cards.activities import LinkedPageActivities, RepositoryActivities
from pressbox.curator.cards.choice import EvidentChooser
from pressbox.curator.cards.domain import CardPage, ContextView, NewEnrichment, Repository
from pressbox.curator.context.activities import ContextActivities, ContextMaker, ContextSource
from pressbox.curator.context.domain import ContextLink, ContextMethod, EntryContext
from pressbox.curator.context.finder import extract_context, extract_links
from pressbox.curator.ingest.fetcher import HostRateLimiter
from pressbox.curator.library.domain import ExtractionRule, content_hash
from tests.fakes.footy import FakeObjects

GITHUB = "https://api.github.example"
LANTERNFISH = Repository(
    "lanternfish-db/lanternfish",
    "https://github.com/lanternfish-db/lanternfish",
    "An embedded database for time series",
    4812,
    "Rust",
    "Apache-2.0",
    ("database", "series"),
)
_numbers = count(1)


def now() -> datetime:
    return datetime.now(UTC)


def source_of(text: str, html: str = "", *, title: str = "A title", entry_id: int = 0) -> ContextSource:
    number = entry_id or next(_numbers)
    return ContextSource(number, 1, title, f"https://news.example.org/{number}", text, html, "en", content_hash(text))


class FakeContexts:
    def __init__(self) -> None:
        self.sources: dict[int, ContextSource] = {}
        self.saved: dict[int, EntryContext] = {}
        self.links: dict[int, list[ContextLink]] = {}

    def put(self, source: ContextSource) -> int:
        self.sources[source.entry_id] = source
        return source.entry_id

    async def source(self, entry_id: int) -> ContextSource | None:
        return self.sources.get(entry_id)

    async def of(self, entry_ids: Sequence[int]) -> Mapping[int, EntryContext]:
        return {entry_id: self.saved[entry_id] for entry_id in entry_ids if entry_id in self.saved}

    async def save(self, context: EntryContext, now: datetime) -> bool:
        source = self.sources.get(context.entry_id)
        if source is None or source.content_hash != context.content_hash:
            return False
        self.saved[context.entry_id] = context
        self.links[context.entry_id] = list(context.links)
        return True

    async def save_links(self, entry_id: int, links: Sequence[ContextLink]) -> bool:
        self.links[entry_id] = list(links)
        return entry_id in self.sources


class RulesExtractor:
    """The real rules, without a process of their own; troubles come first."""

    def __init__(self) -> None:
        self.troubles: list[PressboxError] = []
        self.asked: list[int] = []

    async def extract(self, source: ContextSource) -> EntryContext:
        self.asked.append(source.entry_id)
        if self.troubles:
            raise self.troubles.pop(0)
        return extract_context(source)


class HtmlLinks:
    async def find(self, html: str, url: str) -> Sequence[ContextLink]:
        return extract_links(html, url)


class FakeGitHub:
    def __init__(self) -> None:
        self.repositories = [LANTERNFISH]
        self.readmes = {LANTERNFISH.full_name: "<h2>Lanternfish</h2>"}
        self.troubles: list[PressboxError] = []
        self.searched: list[str] = []

    async def search(self, words: str, limit: int) -> Sequence[Repository]:
        self.searched.append(words)
        self._trouble()
        return [one for one in self.repositories if words.lower() in one.full_name][:limit]

    async def get(self, full_name: str) -> Repository | None:
        self._trouble()
        return next((one for one in self.repositories if one.full_name == full_name), None)

    async def readme(self, repository: Repository) -> str:
        self._trouble()
        return self.readmes.get(repository.full_name, "")

    def _trouble(self) -> None:
        if self.troubles:
            raise self.troubles.pop(0)


class FakeEnrichments:
    def __init__(self, contexts: FakeContexts) -> None:
        self._contexts = contexts
        self.cards: dict[int, NewEnrichment] = {}

    async def find_links(self, entry_id: int, urls: Sequence[str]) -> Sequence[str]:
        return [link.url for link in self._contexts.links.get(entry_id, ()) if link.url in urls]

    async def save(self, enrichment: NewEnrichment, now: datetime) -> int | None:
        if enrichment.entry_id not in self._contexts.sources:
            return None
        same = (enrichment.entry_id, enrichment.kind, enrichment.key)
        known = [number for number, card in self.cards.items() if (card.entry_id, card.kind, card.key) == same]
        number = known[0] if known else len(self.cards) + 1
        self.cards[number] = enrichment
        return number

    async def delete(self, enrichment_id: int) -> bool:
        return self.cards.pop(enrichment_id, None) is not None

    async def hide(self, user_id: int, enrichment_id: int) -> int:
        raise NotFoundError("nobody reads here")

    async def panel(self, user_id: int, entry_id: int) -> ContextView:
        raise NotFoundError("nobody reads here")

    async def page(self, user_id: int, enrichment_id: int) -> CardPage:
        raise NotFoundError("nobody reads here")

    async def require_visible(self, user_id: int, entry_ids: Sequence[int]) -> None:
        """Everybody may."""


class FakePages:
    """Pages by address: a text, or the error that it gives."""

    def __init__(self) -> None:
        self.pages: dict[str, str | PressboxError] = {}
        self.read_addresses: list[str] = []

    async def read(self, url: str, limit: int) -> Page:
        self.read_addresses.append(url)
        found = self.pages.get(url, PermanentError("The page is not there (404)."))
        if isinstance(found, PressboxError):
            raise found
        return Page(url, found, "text/html")

    async def extract(self, page: Page, rules: Sequence[ExtractionRule], owner: str = "") -> FetchedArticle:
        return FetchedArticle(page.html, page.html, title="A page", final_url=page.url)

    async def from_feed(self, html: str, base_url: str) -> FetchedArticle:
        return FetchedArticle(html, html)


class NoRateLimits:
    def __init__(self) -> None:
        self.held: dict[str, datetime] = {}

    async def reserve(self, host: str, delay: timedelta, now: datetime, longest: timedelta) -> datetime:
        return self.held.get(host, now)

    async def pause(self, host: str, until: datetime) -> None:
        self.held[host] = until


@dataclass
class FakeModel:
    """A paid model that says what a function says. An answer that is not usable raises, as the real one does."""

    says: Callable[[Question], str]
    name: str = "fake-model"
    asked: list[Question] = field(default_factory=list)

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: Any | None = None
    ) -> Reply:
        from pressbox.core.errors import UnusableAnswerError

        self.asked.append(question)
        said = self.says(question)
        if not usable(said):
            raise UnusableAnswerError(f"{self.name} gave an answer that cannot be used.")
        return Reply(said, self.name)


class ContextWorld:
    def __init__(self) -> None:
        self.contexts = FakeContexts()
        self.extractor = RulesExtractor()
        self.github = FakeGitHub()
        self.enrichments = FakeEnrichments(self.contexts)
        self.objects = FakeObjects()
        self.pages = FakePages()
        self.rate_limits = NoRateLimits()
        self.way = ContextMaker(ContextMethod.OFFLINE, "", "1")

    def entry(self, text: str, html: str = "", **facts: Any) -> int:
        return self.contexts.put(source_of(text, html, **facts))

    def edit(self, entry_id: int, text: str) -> None:
        known = self.contexts.sources[entry_id]
        self.contexts.sources[entry_id] = replace(known, text=text, content_hash=content_hash(text))

    @property
    def context_activities(self) -> ContextActivities:
        return ContextActivities(self.contexts, self.extractor, self.objects, HtmlLinks(), self.contexts, self.way)

    @property
    def repository_activities(self) -> RepositoryActivities:
        return RepositoryActivities(
            self.contexts,
            self.enrichments,
            self.github,
            EvidentChooser(),
            self.objects,
            HostRateLimiter(self.rate_limits, now),
            GITHUB,
        )

    @property
    def page_activities(self) -> LinkedPageActivities:
        return LinkedPageActivities(self.enrichments, self.pages, self.pages, HostRateLimiter(self.rate_limits, now))

    def plain(self) -> list[Callable[..., Any]]:
        context, github, pages = self.context_activities, self.repository_activities, self.page_activities
        return [
            context.get_entry,
            context.save_entry_context,
            github.search_github_candidates,
            github.save_github_enrichment,
            pages.delete_enrichment,
        ]

    def heavy(self) -> list[Callable[..., Any]]:
        context, github, pages = self.context_activities, self.repository_activities, self.page_activities
        return [
            context.extract_entry_context,
            context.save_entry_links,
            github.rerank_github_results,
            github.fetch_github_readme,
            pages.fetch_and_save_entry_links,
        ]
