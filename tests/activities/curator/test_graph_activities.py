"""The effects of the graph's update and rebuild: one entry's trouble is its own, and who is away is waited for."""

from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import ConfigurationError, PermanentError, RateLimitedError, TransientError
from pressbox.curator.graph.contracts import GraphBatchInput, GraphGeneration, GraphMarkInput
from tests.fakes.graph import FakeGraph, FakeShelf, context


def shelf(number: int = 3) -> FakeShelf:
    made = FakeShelf()
    made.put(number)
    return made


async def add(shelf: FakeShelf, *entry_ids: int):  # type: ignore[no-untyped-def] # the result of the activity
    wanted = GraphBatchInput(entry_ids=entry_ids)
    return await ActivityEnvironment().run(shelf.graphing.add_to_global_graph_bulk, wanted)


async def test_a_context_that_fits_the_text_is_used_and_another_is_found_anew() -> None:
    found = shelf()
    found.known = {1: context(1, "Text 1.", "Known"), 2: context(2, "an older text", "Stale")}
    result = await add(found, 1, 2, 3)
    assert found.asked == [2, 3]
    assert [one.entry_id for one in result.added] == [1, 2, 3]
    said = [found.graph.kept[0][number].context for number in (1, 2, 3)]
    assert [one.entities[0].name for one in said if one] == ["Known", "Entity 2", "Entity 3"]
    assert found.known[2].entities[0].name == "Entity 2"


async def test_an_entry_that_fails_is_told_and_the_others_go_in() -> None:
    found = shelf(4)
    found.troubles = {2: PermanentError("It speaks nonsense.")}
    found.graph.refuse = {3: "The graph does not want it."}
    result = await add(found, 1, 2, 3, 4, 99)
    assert [one.entry_id for one in result.added] == [1, 4]
    assert {one.entry_id: one.reason for one in result.failed} == {
        2: "It speaks nonsense.",
        3: "The graph does not want it.",
    }
    assert result.gone == (99,)
    assert result.retry_at is None
    await ActivityEnvironment().run(
        found.graphing.mark_entries_graph_added, GraphMarkInput(added=result.added, failed=result.failed)
    )
    assert sorted(found.in_graph) == [1, 4]
    assert found.failed == {2: "It speaks nonsense.", 3: "The graph does not want it."}


async def test_a_model_that_is_away_lets_the_others_in_and_the_rest_wait() -> None:
    for error in (TransientError("away"), RateLimitedError("used up"), ConfigurationError("no key")):
        found = shelf(6)
        found.known = {1: context(1, "Text 1.", "Known")}
        found.away = error
        result = await add(found, 1, 2, 3, 4, 5, 6)
        assert [one.entry_id for one in result.added] == [1]
        assert (result.failed, result.reason) == ((), error.message)
        assert result.retry_at is not None
        assert len(found.asked) <= 4, "who is away is not asked for the whole batch"


async def test_a_graph_that_reads_texts_itself_is_waited_for_as_well() -> None:
    found = shelf(2)
    found.graph = FakeGraph(wants_contexts=False, away=TransientError("Its model is away."))
    result = await add(found, 1, 2)
    assert (result.added, result.failed, result.reason, found.asked) == ((), (), "Its model is away.", [])
    assert result.retry_at is not None


async def test_a_rebuild_adds_what_is_lacking_or_everything_into_a_graph_aside() -> None:
    found = shelf(2)
    await ActivityEnvironment().run(
        found.graphing.mark_entries_graph_added, GraphMarkInput(added=(await add(found, 1)).added)
    )
    found.asked.clear()
    bulk = found.graphing.fetch_and_add_to_graph_bulk
    result = await ActivityEnvironment().run(bulk, GraphBatchInput(entry_ids=(1, 2)))
    assert [one.entry_id for one in result.added] == [2]
    begun = await ActivityEnvironment().run(found.graphing.reset_global_graph, GraphGeneration())
    assert await ActivityEnvironment().run(found.graphing.reset_global_graph, begun) == begun
    result = await ActivityEnvironment().run(bulk, GraphBatchInput(entry_ids=(1, 2), generation=begun.number))
    assert [one.entry_id for one in result.added] == [1, 2]
    assert found.asked == [2], "what is known is not asked for again"
