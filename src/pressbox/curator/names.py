"""Names that the manifest and the commands of the curator give away, so this is cheap to import."""

PATH = "/reader"
QUEUE = "curator"
HEAVY_QUEUE = "curator-heavy"
INDEX_QUEUE = "curator-index"
INGEST_SCHEDULE = "curator-ingest"
GRAPH_SCHEDULE = "curator-graph"
CLEANUP_SCHEDULE = "curator-cleanup"
