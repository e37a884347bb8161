"""Ingestion, distilling, index and vectors: from feeds to what people read."""

from collections.abc import Mapping
from datetime import timedelta

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError
from pressbox.curator.articles.extractor import WorkshopExtractor
from pressbox.curator.articles.page_reader import GuardedPageReader
from pressbox.curator.distil.activities import DistilActivities
from pressbox.curator.distil.contracts import AppSettings
from pressbox.curator.distil.extractive import ExtractiveDistiller
from pressbox.curator.distil.model import ModelDistiller
from pressbox.curator.distil.ports import Distiller
from pressbox.curator.distil.store import SqlDistilStore
from pressbox.curator.feeds.crawler import FeedCrawler
from pressbox.curator.feeds.reader import FeedReader
from pressbox.curator.ingest.activities.crawl import CrawlActivities
from pressbox.curator.ingest.activities.fetch import FetchActivities
from pressbox.curator.ingest.activities.leftovers import LeftoverActivities
from pressbox.curator.ingest.feed_store import SqlFeeds
from pressbox.curator.ingest.fetch_store import SqlFetchStore
from pressbox.curator.ingest.ports import Crawler
from pressbox.curator.ingest.rate_limit_store import SqlHostTurns
from pressbox.curator.ingest.rate_limits import Turns
from pressbox.curator.library.contracts import HEAVY_QUEUE, INDEX_QUEUE, QUEUE
from pressbox.curator.library.parts import Functions, embedder, index_path, policy
from pressbox.curator.models.claims import SqlClaims
from pressbox.curator.models.domain import Prices
from pressbox.curator.models.ledger import SqlModelLedger
from pressbox.curator.parsers.pool import Workshop
from pressbox.curator.search.activities.embedding import EmbeddingActivities
from pressbox.curator.search.activities.index import IndexActivities, IndexSelection
from pressbox.curator.search.embedding_store import SqlEmbeddingStore
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.index_store import SqlIndexStore
from pressbox.curator.settings import CuratorSettings, DistillerKind


def activities(resources: Resources) -> Mapping[str, Functions]:
    return activities_on(resources, FeedCrawler(resources.http, FeedReader(), policy(resources.settings)))


def activities_on(resources: Resources, crawler: Crawler) -> Mapping[str, Functions]:
    """The activities, with the crawler in the caller's hands: benchmarks measure it."""
    settings, database = resources.settings, resources.database
    feeds, entries, summaries = SqlFeeds(database), SqlFetchStore(database), SqlDistilStore(database)
    documents, embeddings = SqlIndexStore(database), SqlEmbeddingStore(database)
    # Pages and texts of strangers share these processes; they start with the first piece of work.
    workshop = Workshop(settings.group(CuratorSettings).heavy_concurrency)
    turns = Turns(SqlHostTurns(resources.database), utc_now)
    vectors = embedder(settings.group(CuratorSettings))
    crawl = CrawlActivities(feeds, entries, crawler, turns, app_settings(settings, vectors.model))
    leftovers = LeftoverActivities(feeds, summaries, documents, embeddings, vectors.model)
    fetch = FetchActivities(
        entries, summaries, GuardedPageReader(resources.http), WorkshopExtractor(workshop), turns, resources.objects
    )
    distil = distil_activities(resources, summaries, workshop)
    index, embedding = (
        IndexActivities(documents, TantivyIndex(index_path(settings))),
        EmbeddingActivities(embeddings, vectors),
    )
    return {
        QUEUE: (
            crawl.get_app_settings,
            crawl.list_feeds,
            crawl.probe_feeds,
            crawl.crawl_single_feed,
            crawl.get_entries_to_fetch,
            leftovers.get_leftovers,
            fetch.get_entries,
            distil.get_entries_for_distillation,
            distil.save_distilled_entries,
            IndexSelection(documents).get_entry_ids_for_indexing,
            embedding.get_entries_for_embedding,
        ),
        HEAVY_QUEUE: (
            fetch.fetch_single_content,
            fetch.fetch_contents,
            distil.distill_entry_content,
            embedding.compute_embeddings,
        ),
        INDEX_QUEUE: (
            index.init_search_index,
            index.clear_search_index,
            index.swap_search_index,
            index.index_entries_batch,
            index.get_orphaned_document_ids,
            index.remove_documents_from_index,
        ),
    }


def distil_activities(resources: Resources, entries: SqlDistilStore, workshop: Workshop) -> DistilActivities:
    settings, claims = resources.settings.group(CuratorSettings), SqlClaims(resources.database)
    offline = ExtractiveDistiller(workshop)
    if settings.distiller is DistillerKind.EXTRACTIVE:
        return DistilActivities(entries, claims, offline)
    return DistilActivities(
        entries,
        claims,
        model_distiller(settings),
        SqlModelLedger(resources.database),
        offline if settings.model_fallback else None,
        Prices(settings.price_per_million_in, settings.price_per_million_out),
        # What an administrator changes counts for work that waits already.
        tokens_per_day=settings.tokens_per_day,
    )


def model_distiller(settings: CuratorSettings) -> Distiller:
    if not settings.model_url or not settings.model_name:
        raise ConfigurationError(
            "The distiller llm needs PRESSBOX_CURATOR_MODEL_URL and PRESSBOX_CURATOR_MODEL_NAME. "
            "Set them, or PRESSBOX_CURATOR_DISTILLER=extractive."
        )
    longest_call = timedelta(seconds=settings.model_timeout_seconds)
    return ModelDistiller(settings.model_url, settings.model_name, settings.model_key, longest_call=longest_call)


def app_settings(settings: Settings, embedding_model: str) -> AppSettings:
    curator = settings.group(CuratorSettings)
    return AppSettings(
        target_language=curator.target_language,
        distiller=curator.distiller,
        embedding_model=embedding_model,
        evaluation=curator.evaluation and curator.distiller is DistillerKind.LLM,
    )
