"""Distilling entries, and doing them again."""

from datetime import datetime

from pydantic import Field

from pressbox.core.contracts import Contract
from pressbox.curator.contracts.base import CamelContract, CuratorProgress, EntryProgressState
from pressbox.curator.domain.policy import CuratorPolicy


class ContentDistillationInput(CamelContract):
    """Without ids: everything that is not distilled yet, page by page."""

    entry_ids: tuple[int, ...] = ()
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class ContentDistillationProgress(CuratorProgress):
    total_entries: int = 0
    entries_distilled: int = 0
    entry_progress: dict[str, EntryProgressState] = Field(default_factory=dict)


class ContentDistillationOutput(CamelContract):
    distilled: int
    failed: int
    waiting: int = 0


class EntryIds(Contract):
    entry_ids: tuple[int, ...]
    policy: CuratorPolicy = CuratorPolicy()


class DistilSelection(Contract):
    entries: tuple[EntryProgressState, ...] = ()
    more: bool = False


class SelectForDistillationInput(Contract):
    entry_ids: tuple[int, ...] = ()
    after_entry_id: int = 0
    limit: int = 50


class DistilledBatch(Contract):
    """`waiting` tells that the budget of the day is used up or no model answers: come back at `retry_at`."""

    distilled: tuple[int, ...] = ()
    failed: tuple[EntryProgressState, ...] = ()
    waiting: tuple[int, ...] = ()
    retry_at: datetime | None = None
    reason: str = ""


class AppSettings(Contract):
    target_language: str
    distiller: str
    embedding_model: str


class ReprocessEntriesInput(CamelContract):
    entry_ids: tuple[int, ...]
    fetch: bool = True
    distill: bool = True
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class ReprocessEntriesProgress(CuratorProgress):
    total_entries: int = 0
    entries_fetched: int = 0
    entries_distilled: int = 0
    entry_progress: dict[str, EntryProgressState] = Field(default_factory=dict)


class ReprocessEntriesOutput(CamelContract):
    fetched: int
    distilled: int
    failed: int
