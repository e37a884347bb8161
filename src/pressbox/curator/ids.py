"""Every id that the curator uses in Temporal and in the object store, made from keys that never change."""

import re

QUEUE = "curator"
HEAVY_QUEUE = "curator-heavy"
INDEX_QUEUE = "curator-index"

INGEST_SCHEDULE = "curator-ingest"
INGEST_WORKFLOW = "curator-ingest"
CLEANUP_SCHEDULE = "curator-cleanup"
CLEANUP_WORKFLOW = "curator-cleanup"

REINDEX_WORKFLOW = "curator-reindex"
PRUNE_WORKFLOW = "curator-prune"
EMBEDDING_WORKFLOW = "curator-embedding-backfill"
GRAPH_SCHEDULE = "curator-graph"
GRAPH_WORKFLOW = "curator-graph"
GRAPH_REBUILD_WORKFLOW = "curator-graph-rebuild"
TRANSLATE_LEFTOVERS_WORKFLOW = "curator-translate-leftovers"
DISTIL_LEFTOVERS_WORKFLOW = "curator-distil-leftovers"

# The registered names of what adapters start: they do not see the workflows themselves.
ALL_FEEDS_INGESTION = "AllFeedsIngestionWorkflow"
SINGLE_FEED_INGESTION = "SingleFeedIngestionWorkflow"
REPROCESS_ENTRIES = "ReprocessEntriesWorkflow"
CONTENT_DISTILLATION = "ContentDistillationWorkflow"
PREVIEW_FETCH = "PreviewFetchWorkflow"
SEARCH_REINDEX = "SearchReindexWorkflow"
SEARCH_PRUNE = "SearchPruneWorkflow"
ENTRIES_CLEANUP = "EntriesCleanupWorkflow"
EMBEDDING_BACKFILL = "EmbeddingBackfillWorkflow"
TRANSLATION = "TranslationWorkflow"
EXTRACT_ENTRY_CONTEXT = "ExtractEntryContextWorkflow"
CONTEXT_COLLECTION = "ContextCollectionWorkflow"
FETCH_ENTRY_LINKS = "FetchEntryLinksWorkflow"
DELETE_ENRICHMENT = "DeleteEnrichmentWorkflow"
GLOBAL_GRAPH_UPDATE = "GlobalGraphUpdateWorkflow"
GRAPH_REBUILD = "GraphRebuildWorkflow"
ANSWER = "AnswerWorkflow"
DEEP_RESEARCH = "DeepResearchWorkflow"
EVALUATION = "EvaluationWorkflow"
SUMMARIZATION_EVALUATION = "SummarizationEvaluationWorkflow"
ARTICLES_SIGNAL = "articles_arrived"
RESEARCH_STOPPED = "stop_requested"
RESEARCH_RESUMED = "resume_requested"


def heavy_queue(queue: str) -> str:
    """Where the workflows of a queue have models and processors used: `curator` → `curator-heavy`."""
    return f"{queue}-heavy"


def index_queue(queue: str) -> str:
    """Where the search index is written: `curator` → `curator-index`."""
    return f"{queue}-index"


def feed_workflow_id(feed_id: int) -> str:
    return f"ingest-feed-{feed_id}"


def fetch_workflow_id(feed_id: int, number: int) -> str:
    return f"fetch-feed-{feed_id}-{number}"


def domain_workflow_id(parent_id: str, domain: str) -> str:
    return f"{parent_id}-{re.sub(r'[^a-z0-9.-]', '-', domain.lower())}"


def feed_distil_workflow_id(feed_id: int) -> str:
    """For what needs no fetch: what the feed itself holds, and what an earlier run left."""
    return f"distil-feed-{feed_id}"


def distil_workflow_id(parent_id: str, number: int) -> str:
    return f"distil-{parent_id}-{number}"


def reprocess_workflow_id(key: str) -> str:
    return f"reprocess-{key}"


def preview_workflow_id(key: str) -> str:
    return f"preview-{key}"


def translation_workflow_id(key: str) -> str:
    return f"translate-{key}"


def translation_claim(entry_id: int, language: str) -> str:
    """Under which one run at a time translates an entry."""
    return f"translate-{entry_id}-{language}"


def context_workflow_id(entry_id: int) -> str:
    return f"context-{entry_id}"


def context_collection_workflow_id(key: str) -> str:
    return f"collect-context-{key}"


def entry_links_workflow_id(entry_id: int) -> str:
    return f"fetch-links-{entry_id}"


def delete_enrichment_workflow_id(enrichment_id: int) -> str:
    return f"delete-enrichment-{enrichment_id}"


def answer_workflow_id(answer_id: int) -> str:
    return f"answer-{answer_id}"


def research_workflow_id(run_id: int) -> str:
    return f"research-{run_id}"


def evaluation_workflow_id(trace_id: str) -> str:
    return f"evaluate-{trace_id}"


def summarization_evaluation_workflow_id(trace_id: str) -> str:
    return f"evaluate-summaries-{trace_id}"


def distil_claim(entry_id: int) -> str:
    """Under which one run at a time distils an entry."""
    return f"distil-{entry_id}"


def paid_claim(feature: str, content_hash: str, prompt_version: str, model: str) -> str:
    """Under which one run at a time asks a model about a text, whichever feed it came with."""
    return f"paid-{feature}-{content_hash}-{prompt_version}-{model}"


def preview_key(key: str) -> str:
    return f"scratch/curator/preview-{key}.html"


def import_key(user_id: int, import_id: str) -> str:
    return f"scratch/curator/import-{user_id}-{import_id}.json"


def context_key(entry_id: int, content_hash: str) -> str:
    """Where a context waits between the one who found it and the one who saves it."""
    return f"scratch/curator/context-{entry_id}-{content_hash}.json"


def readme_key(content_hash: str) -> str:
    return f"scratch/curator/readme-{content_hash}.html"
