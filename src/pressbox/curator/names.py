"""Names that the whole of the curator uses, and that its manifest gives away: task queues and the path of its pages."""

PATH = "/reader"
QUEUE = "curator"
HEAVY_QUEUE = "curator-heavy"
INDEX_QUEUE = "curator-index"
