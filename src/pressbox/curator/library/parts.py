"""Parts of the curator that several others are made of: rules, embedder, index, stores, the starter of workflows."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.operations.starter import TemporalWorkflows
from pressbox.curator.reading.ports import Subscriptions
from pressbox.curator.search.embedders.bundled import BundledEmbedder
from pressbox.curator.search.embedders.fastembed import FastEmbedEmbedder
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.ports import Embedder, SearchIndex, SearchReader
from pressbox.curator.settings import CuratorSettings, EmbedderKind
from pressbox.curator.sources.subscription_store import SqlSubscriptions

Functions = Sequence[Callable[..., Any]]


def embedder(settings: CuratorSettings) -> Embedder:
    """One for the process: ingestion, asking and research share the memory that its model takes."""
    return _embedder(settings.embedder, settings.embedding_model, settings.embedding_path)


@cache
def _embedder(kind: EmbedderKind, model: str, path: Path | None) -> Embedder:
    return BundledEmbedder() if kind is EmbedderKind.BUNDLED else FastEmbedEmbedder(model, path)


def workflows(resources: Resources) -> TemporalWorkflows:
    curator = resources.settings.group(CuratorSettings)
    return TemporalWorkflows(
        resources.temporal,
        QUEUE,
        policy(resources.settings),
        enable_content_fetch=curator.full_text,
        auto_distill=curator.auto_distill,
    )


def search_reader(resources: Resources) -> TantivyReader:
    return TantivyReader(index_path(resources.settings))


def search_index(path: Path) -> tuple[SearchIndex, SearchReader]:
    """To write and to search in this folder: benchmarks measure both."""
    return TantivyIndex(path), TantivyReader(path)


def subscription_store(database: Database) -> Subscriptions:
    return SqlSubscriptions(database)


def index_path(settings: Settings) -> Path:
    """Shared by the web and by the one worker of the queue `curator-index`."""
    return settings.group(CuratorSettings).index_path or settings.home / "index"


def policy(settings: Settings) -> CuratorPolicy:
    """The rules with the times and limits of the settings, on their clock."""
    curator = settings.group(CuratorSettings)
    return CuratorPolicy(
        feeds_at_once=curator.feeds_at_once,
        shortest_interval=timedelta(minutes=curator.shortest_interval_minutes),
        longest_interval=timedelta(hours=curator.longest_interval_hours),
        entries_per_crawl=curator.entries_per_crawl,
        host_delay=timedelta(seconds=curator.host_delay_seconds),
        target_language=curator.target_language,
        tokens_per_day=curator.tokens_per_day,
        keep_days=curator.keep_days,
    ).at_speed(curator.speed)
