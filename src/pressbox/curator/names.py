"""Names that the manifest and the commands of the curator give away, so this is cheap to import."""

PATH = "/reader"
QUEUE = "curator"
HEAVY_QUEUE = "curator-heavy"
INDEX_QUEUE = "curator-index"
INGEST_SCHEDULE = "curator-ingest"
GRAPH_SCHEDULE = "curator-graph"
CLEANUP_SCHEDULE = "curator-cleanup"
# Where apps look for the Google Reader API; `/api/greader.php` is what apps for FreshRSS add.
READER_API_BASES = ("", "/greader", "/api/greader.php")
COOKIELESS = (
    "/accounts/ClientLogin",
    "/reader/api/0/",
    "/reader/atom/",
    *(f"{base}/" for base in READER_API_BASES if base),
)
_READER_API = f"({'|'.join(READER_API_BASES)})/reader/api/0"
# In bytes; a note of 100,000 letters may be six times as long when it is on its way.
BODY_LIMITS = (
    (rf"(/api/curator|{PATH}|)/opml|{_READER_API}/subscription/import", 10_000_000),
    (rf"{_READER_API}/(edit-tag|stream/items/contents)", 1_000_000),
    (rf"{PATH}/entries/[^/]+/note|/api/curator/entries/[^/]+", 1_000_000),
)
