"""Kinds of change that open pages follow. A store announces them by `work.changed(kind, key)` in its transaction."""

# Key: the feed's id. It was crawled, paused or changed, or its entries arrived, were fetched or distilled.
FEED_CHANGED = "curator.feed"
# Key: the entry's id. Its text, its summary or its state changed.
ENTRY_CHANGED = "curator.entry"
# Key: the user's id. Their sources, counts, labels or states changed, in this window or another.
PERSON_CHANGED = "curator.person"
# Key: the answer's id. A piece of its text was written, or it ended.
ANSWER_CHANGED = "curator.answer"
# Key: the research run's id. A step began or ended, or the run did.
RESEARCH_CHANGED = "curator.research"
# Key: the entry's id. Its translation, context, links or enrichments changed.
ENRICHMENT_CHANGED = "curator.enrichment"
# Key: always "graph". The graph has other nodes or edges than before.
GRAPH_CHANGED = "curator.graph"
