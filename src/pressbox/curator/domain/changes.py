"""Kinds of change that open pages follow. Whoever writes calls `work.changed(kind, key)` in the same transaction."""

# Key: the feed's id. It was crawled, paused or changed, or its entries came, were fetched or were distilled.
FEED_CHANGED = "curator.feed"
# Key: the entry's id. Its text, its summary or a state of its way changed.
ENTRY_CHANGED = "curator.entry"
# Key: the user's id. Their sources, counts, labels or states changed, in this window or another.
PERSON_CHANGED = "curator.person"
