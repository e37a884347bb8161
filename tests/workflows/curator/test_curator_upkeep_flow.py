"""Upkeep: the search index built anew and pruned, vectors, cleanup, and the preview of rules."""

from datetime import timedelta

from pressbox.core.errors import PermanentError
from pressbox.curator.cleanup.contracts import EntriesCleanupInput
from pressbox.curator.cleanup.workflow import EntriesCleanupWorkflow
from pressbox.curator.library.domain import ExtractionRule
from pressbox.curator.search.contracts import EmbeddingBackfillInput, SearchPruneInput, SearchReindexInput
from pressbox.curator.search.workflows import EmbeddingBackfillWorkflow, SearchPruneWorkflow, SearchReindexWorkflow
from tests.workflows.curator.conftest import Stage


async def test_a_reindex_builds_aside_and_swaps_when_it_is_whole(stage: Stage) -> None:
    entries = stage.world.fetched(stage.world.feed(), 7)
    stage.world.index.documents.add(1)
    result = await stage.run(SearchReindexWorkflow, SearchReindexInput(batch_size=3))
    assert result["indexed"] == 7
    assert stage.world.index.current == "1"
    assert stage.world.index.documents == {entry.entry_id for entry in entries}


async def test_a_clean_reindex_never_empties_what_people_search(stage: Stage) -> None:
    stage.world.fetched(stage.world.feed(), 4)
    stage.world.index.documents.update({1, 2, 3})
    await stage.run(SearchReindexWorkflow, SearchReindexInput(batch_size=2, clean=True))
    assert stage.world.index.searched[:2] == [("0", 3), ("0", 3)]
    assert len(stage.world.index.documents) == 4


async def test_an_index_that_cannot_be_read_is_searched_while_it_is_rebuilt(stage: Stage) -> None:
    stage.world.fetched(stage.world.feed(), 4)
    stage.world.index.damaged = True
    await stage.run(SearchReindexWorkflow, SearchReindexInput(batch_size=2, clean=True))
    assert stage.world.index.searched[:2] == [("1", 0), ("1", 2)]
    assert len(stage.world.index.documents) == 4
    known = await stage.world.entry_store.known_index()
    assert known is not None
    assert known.complete


async def test_pruning_removes_documents_without_an_entry_and_no_others(stage: Stage) -> None:
    entries = stage.world.fetched(stage.world.feed(), 4)
    kept = {entry.entry_id for entry in entries}
    stage.world.index.documents.update(kept | {1, 2, 3})
    result = await stage.run(SearchPruneWorkflow, SearchPruneInput(batch_size=2))
    assert result["removed"] == 3
    assert stage.world.index.documents == kept


async def test_every_entry_without_a_vector_gets_one(stage: Stage) -> None:
    entries = stage.world.fetched(stage.world.feed(), 5)
    result = await stage.run(EmbeddingBackfillWorkflow, EmbeddingBackfillInput(batch_size=2))
    assert result["computed"] == 5
    assert all(entry.embedded for entry in entries)


async def test_cleanup_deletes_in_rounds_and_a_dry_run_only_counts(stage: Stage) -> None:
    stage.world.entry_store.old = list(range(1, 1201))
    stage.world.index.documents.update({1, 2})
    dry = await stage.run(EntriesCleanupWorkflow, EntriesCleanupInput(dry_run=True))
    assert (dry["deletedCount"], len(stage.world.entry_store.old)) == (1200, 1200)
    done = await stage.run(EntriesCleanupWorkflow, EntriesCleanupInput())
    assert (done["deletedCount"], stage.world.entry_store.old) == (1200, [])
    assert stage.world.index.documents == set()
    assert stage.world.entry_store.unread_age is None


async def test_what_nobody_reads_goes_later_than_what_everybody_read(stage: Stage) -> None:
    stage.world.entry_store.old = [1]
    await stage.run(EntriesCleanupWorkflow, EntriesCleanupInput(older_than_days=7, unread_older_than_days=180))
    assert stage.world.entry_store.unread_age == timedelta(days=173)


async def test_a_preview_shows_what_rules_would_find_and_is_kept_in_the_object_store(stage: Stage) -> None:
    shown = await stage.workflows.preview("https://a.example.org/1", [ExtractionRule("css", "article", True)], 7)
    assert shown.ok
    assert shown.words
    assert b"article" in stage.world.objects.all[shown.preview_key]


async def test_a_preview_of_a_page_that_cannot_be_had_says_why(stage: Stage) -> None:
    stage.world.pages.broken["https://a.example.org/1"] = PermanentError("It is a PDF.")
    shown = await stage.workflows.preview("https://a.example.org/1", [], 7)
    assert (shown.ok, shown.error) == (False, "It is a PDF.")
