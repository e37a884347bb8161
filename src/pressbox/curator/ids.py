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


def feed_workflow_id(feed_id: int) -> str:
    return f"ingest-feed-{feed_id}"


def fetch_workflow_id(feed_id: int) -> str:
    return f"fetch-feed-{feed_id}"


def domain_workflow_id(parent_id: str, domain: str) -> str:
    return f"{parent_id}-{re.sub(r'[^a-z0-9.-]', '-', domain.lower())}"


def distil_workflow_id(parent_id: str, number: int) -> str:
    return f"distil-{parent_id}-{number}"


def reprocess_workflow_id(key: str) -> str:
    return f"reprocess-{key}"


def preview_workflow_id(key: str) -> str:
    return f"preview-{key}"


def preview_key(key: str) -> str:
    return f"scratch/curator/preview-{key}.html"


def import_key(user_id: int, import_id: str) -> str:
    return f"scratch/curator/import-{user_id}-{import_id}.json"
