"""Messages about what an entry is about."""

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress, DeferrableResult
from pressbox.curator.library.domain import CuratorPolicy

EXTRACT_ENTRY_CONTEXT = "ExtractEntryContextWorkflow"


def context_workflow_id(entry_id: int) -> str:
    return f"context-{entry_id}"


def context_key(entry_id: int, content_hash: str) -> str:
    """Where a context waits between the one who found it and the one who saves it."""
    return f"scratch/curator/context-{entry_id}-{content_hash}.json"


class ExtractEntryContextInput(CamelContract):
    """`again` also when the context of the same text is known."""

    entry_id: int
    again: bool = False
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class ExtractEntryContextOutput(CamelContract):
    """`software` are names worth a look on GitHub."""

    entry_id: int
    extracted: bool
    entities: int = 0
    software: tuple[str, ...] = ()
    reason: str = ""


class ExtractEntryContextProgress(CuratorProgress):
    entry_id: int = 0


class EntryReference(Contract):
    entry_id: int


class EntryFacts(Contract):
    """What a history may know of an entry. `known`: its context is there, made of this text in this way."""

    entry_id: int
    found: bool
    title: str = ""
    content_hash: str = ""
    characters: int = 0
    known: bool = False
    software: tuple[str, ...] = ()


class ExtractContextInput(Contract):
    entry_id: int
    policy: CuratorPolicy = CuratorPolicy()


class ExtractedContext(DeferrableResult):
    """The context itself lies in the object store under `key`; empty when there was no text any more."""

    key: str = ""
    entities: int = 0


class SaveContextInput(Contract):
    entry_id: int
    key: str


class SavedContext(Contract):
    saved: bool
    software: tuple[str, ...] = ()


class SavedLinks(Contract):
    links: int
