"""Who may read of work on feeds, entries, questions and research; `library/store.py` says who belongs to them."""

from collections.abc import Sequence

from pressbox.core.audiences.contracts import NOBODY, Audience

FEED_READERS = "curator.feed"
ENTRY_READERS = "curator.entry"
ASKER = "curator.answer"
RESEARCHER = "curator.research"


def readers_of_feed(feed_id: int | None) -> Audience:
    return Audience(kind=FEED_READERS, id=feed_id) if feed_id else NOBODY


def readers_of_entry(entry_id: int) -> Audience:
    return Audience(kind=ENTRY_READERS, id=entry_id)


def readers_of_entries(entry_ids: Sequence[int]) -> Audience:
    """Those of a single entry. Several may be of feeds that nobody reads all of."""
    return readers_of_entry(entry_ids[0]) if len(entry_ids) == 1 else NOBODY


def asker_of(answer_id: int) -> Audience:
    return Audience(kind=ASKER, id=answer_id)


def researcher_of(run_id: int) -> Audience:
    return Audience(kind=RESEARCHER, id=run_id)
