"""Messages about cards beside an entry: repositories of its software, and pages behind its links."""

from datetime import datetime

from pydantic import Field

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress, DeferrableResult, EntryProgressState
from pressbox.curator.library.domain import CuratorPolicy

CONTEXT_COLLECTION = "ContextCollectionWorkflow"
FETCH_ENTRY_LINKS = "FetchEntryLinksWorkflow"
DELETE_ENRICHMENT = "DeleteEnrichmentWorkflow"


def context_collection_workflow_id(key: str) -> str:
    return f"collect-context-{key}"


def entry_links_workflow_id(entry_id: int) -> str:
    return f"fetch-links-{entry_id}"


def delete_enrichment_workflow_id(enrichment_id: int) -> str:
    return f"delete-enrichment-{enrichment_id}"


def readme_key(content_hash: str) -> str:
    return f"scratch/curator/readme-{content_hash}.html"


class ContextCollectionInput(CamelContract):
    entry_ids: tuple[int, ...]
    again: bool = False
    state: "CollectionState" = Field(default_factory=lambda: CollectionState())
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class CollectionState(CamelContract):
    """Carried over continue-as-new: one run per page of entries."""

    done: int = 0
    extracted: int = 0
    failed: int = 0
    candidates: int = 0
    enriched: int = 0


class ContextCollectionProgress(CuratorProgress):
    total_entries: int = 0
    successful_extractions: int = 0
    enrichment_candidates_count: int = 0
    entry_progress: dict[str, EntryProgressState] = Field(default_factory=dict)


class ContextCollectionOutput(CamelContract):
    extracted: int
    failed: int
    candidates: int
    enriched: int


class FetchEntryLinksInput(CamelContract):
    """Only addresses that the entry's own text has are read."""

    entry_id: int
    urls: tuple[str, ...]
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class LinkResult(CamelContract):
    url: str
    fetched: bool
    title: str = ""
    reason: str = ""


class FetchEntryLinksProgress(CuratorProgress):
    entry_id: int = 0
    links_fetched: int = 0
    links: tuple[LinkResult, ...] = ()


class FetchEntryLinksOutput(CamelContract):
    fetched: int
    failed: int


class DeleteEnrichmentInput(CamelContract):
    enrichment_id: int
    parent_workflow_id: str = ""


class DeleteEnrichmentOutput(CamelContract):
    deleted: bool


class DeleteEnrichmentProgress(CuratorProgress):
    enrichment_id: int = 0


class RepositoryFacts(Contract):
    full_name: str
    url: str
    description: str = ""
    stars: int = 0
    language: str = ""
    licence: str = ""
    topics: tuple[str, ...] = ()
    pushed_at: datetime | None = None
    archived: bool = False
    fork: bool = False
    linked: bool = False


class SearchGithubInput(Contract):
    entry_id: int
    name: str
    policy: CuratorPolicy = CuratorPolicy()


class GithubCandidates(DeferrableResult):
    candidates: tuple[RepositoryFacts, ...] = ()


class RerankGithubInput(Contract):
    entry_id: int
    name: str
    candidates: tuple[RepositoryFacts, ...]
    policy: CuratorPolicy = CuratorPolicy()


class GithubChoice(DeferrableResult):
    """None of them is an answer too. `by`: a model's name, or rules."""

    chosen: RepositoryFacts | None = None
    by: str = ""


class FetchReadmeInput(Contract):
    repository: RepositoryFacts
    policy: CuratorPolicy = CuratorPolicy()


class FetchedReadme(DeferrableResult):
    """Sanitised HTML in the object store; no key when there is no README."""

    key: str = ""


class SaveGithubInput(Contract):
    entry_id: int
    name: str
    repository: RepositoryFacts
    readme_key: str = ""
    by: str = ""


class SavedEnrichment(Contract):
    enrichment_id: int | None


class FetchLinksInput(Contract):
    entry_id: int
    urls: tuple[str, ...]
    policy: CuratorPolicy = CuratorPolicy()


class FetchedLinks(Contract):
    results: tuple[LinkResult, ...] = ()


class DeleteInput(Contract):
    enrichment_id: int


class Deleted(Contract):
    deleted: bool
