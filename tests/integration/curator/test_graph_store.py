"""The graph in PostgreSQL: what is in it, who said so, and who sees it."""

import asyncio

import pytest
from sqlalchemy import select

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.curator.context.domain import EntityKind
from pressbox.curator.context.store import SqlContexts
from pressbox.curator.graph.activities import Addition
from pressbox.curator.graph.store import GraphGenerationRow
from pressbox.curator.library.rows import EntryRow
from tests.fakes.graph import NOW, Stacks, context, named


@pytest.fixture
def stacks(database: Database) -> Stacks:
    return Stacks(database)


async def test_every_node_and_every_edge_says_which_entry_says_so(stacks: Stacks) -> None:
    anna = await stacks.rows.user()
    feed = await stacks.rows.feed(anna, title="The News")
    first, second, third = [await stacks.article(feed) for _ in range(3)]
    await stacks.say(third, "Ada")
    await stacks.say(first, "Ada", "Difference Engine", relations=[("Ada", "writes about", "Difference Engine")])
    await stacks.say(second, "ADA", "London")
    entity = await stacks.pages.entity(anna, "ada", 8)
    assert (entity.name, entity.entries, entity.more) == ("Ada", 3, False)
    assert [(one.entry_id, one.feed_title, one.quote) for one in entity.evidence] == [
        (first, "The News", "Ada is in it."),
        (second, "The News", "ADA is in it."),
        (third, "The News", "Ada is in it."),
    ]
    engine, london = entity.neighbours
    assert (engine.name, engine.related, london.name, london.related) == ("Difference Engine", True, "London", False)
    (relation,) = engine.relations
    assert (relation.word, relation.outgoing, relation.entries) == ("writes about", True, 1)
    assert [(one.entry_id, one.quote) for one in relation.evidence] == [(first, "Ada writes about Difference Engine.")]
    seen_from_there = await stacks.pages.entity(anna, "Difference Engine", 8)
    assert [relation.outgoing for one in seen_from_there.neighbours for relation in one.relations] == [False]


async def test_names_of_one_spelling_are_one_node_of_the_kind_that_most_say(stacks: Stacks) -> None:
    anna = await stacks.rows.user()
    feed = await stacks.rows.feed(anna)
    for name, kind in (
        ("Rust", EntityKind.OTHER),
        ("rust", EntityKind.SOFTWARE),
        ("Rust", EntityKind.SOFTWARE),
        ("Rust", EntityKind.CONCEPT),
    ):
        await stacks.say(await stacks.article(feed), named(name, kind))
    entity = await stacks.pages.entity(anna, "RUST", 8)
    assert (entity.name, entity.kind, entity.entries) == ("Rust", EntityKind.SOFTWARE, 4)
    assert await stacks.keys() == ["rust"]


async def test_what_an_entry_said_before_is_replaced_when_its_text_changes(stacks: Stacks) -> None:
    anna = await stacks.rows.user()
    article = await stacks.article(await stacks.rows.feed(anna))
    await stacks.say(article, "Old", "Both", relations=[("Old", "knows", "Both")])
    await stacks.rewrite(article, "Another text.")
    assert [one.entry_id for one in await stacks.queue.find_pending((), 0, 10, failed=False)] == [article]
    await stacks.say(article, "New", "Both")
    with pytest.raises(NotFoundError):
        await stacks.pages.entity(anna, "old", 8)
    assert await stacks.pages.entities(anna, "old", 10) == []
    assert await stacks.graph.prune() == 2
    assert await stacks.keys() == ["both", "new"]
    assert await stacks.queue.find_pending((), 0, 10, failed=False) == []


async def test_what_is_said_twice_is_in_once(stacks: Stacks) -> None:
    article = await stacks.article(await stacks.rows.feed())
    for _ in range(2):
        await stacks.say(article, "Ada", "Charles", relations=[("Ada", "knows", "Charles")] * 2)
    assert await stacks.sizes() == (2, 1, 3)


async def test_entries_are_marked_as_added_only_when_they_are_in(stacks: Stacks) -> None:
    feed = await stacks.rows.feed()
    article, gone = await stacks.article(feed), await stacks.article(feed)
    stale, lost = await stacks.document(article, "Ada"), await stacks.document(gone, "Ada")
    await stacks.rewrite(article, "Another text, before the graph got the first.")
    await stacks.remove(gone)
    assert await stacks.graph.add([stale, lost]) == []
    assert await stacks.queue.mark_added({article: stale.source.content_hash, gone: "hash"}, NOW) == []
    assert [one.entry_id for one in await stacks.queue.find_pending((), 0, 10, failed=False)] == [article]
    await stacks.say(article, "Ada")
    row = await stacks.rows.one(EntryRow, article)
    assert (row.graph_added_at, row.graph_hash) == (NOW, row.content_hash)


async def test_an_entry_that_failed_is_shown_and_tried_again_when_asked_or_changed(stacks: Stacks) -> None:
    anna = await stacks.rows.user()
    article = await stacks.article(await stacks.rows.feed(anna))
    text = (await stacks.rows.one(EntryRow, article)).content_hash
    await stacks.queue.mark_failed([Addition(article, text, "The model spoke nonsense.")])
    assert await stacks.queue.find_pending((), 0, 10, failed=False) == []
    assert [one.entry_id for one in await stacks.queue.find_pending((), 0, 10, failed=True)] == [article]
    (failure,) = (await stacks.pages.state(anna)).failures
    assert (failure.entry_id, failure.reason) == (article, "The model spoke nonsense.")
    await stacks.rewrite(article, "Another text.")
    assert [one.entry_id for one in await stacks.queue.find_pending((), 0, 10, failed=False)] == [article]
    await stacks.say(article, "Ada")
    assert (await stacks.pages.state(anna)).failures == []


async def test_a_node_without_an_entry_of_ones_own_does_not_exist(stacks: Stacks) -> None:
    anna, boris = await stacks.rows.user(), await stacks.rows.user()
    mine, shared = await stacks.rows.feed(anna), await stacks.rows.feed(anna, boris)
    await stacks.say(await stacks.article(mine), "Secret", "Ada", relations=[("Ada", "keeps", "Secret")])
    public = await stacks.article(shared)
    await stacks.say(public, "Ada", "London")
    assert {one.key for one in await stacks.pages.entities(anna, "", 10)} == {"ada", "secret", "london"}
    assert {one.key: one.entries for one in await stacks.pages.entities(boris, "", 10)} == {"ada": 1, "london": 1}
    assert await stacks.pages.entities(boris, "secret", 10) == []
    with pytest.raises(NotFoundError):
        await stacks.pages.entity(boris, "secret", 8)
    assert [one.key for one in (await stacks.pages.entity(boris, "ada", 8)).neighbours] == ["london"]
    assert await stacks.reader.entries_near(boris, "Who keeps the secret, Ada?", 10) == [public]


async def test_evidence_of_a_removed_entry_goes_and_nodes_without_any_vanish(stacks: Stacks) -> None:
    anna = await stacks.rows.user()
    feed = await stacks.rows.feed(anna)
    kept, removed = await stacks.article(feed), await stacks.article(feed)
    await stacks.say(kept, "Ada")
    await stacks.say(removed, "Ada", "Charles", relations=[("Ada", "knows", "Charles")])
    await stacks.remove(removed)
    assert [one.key for one in await stacks.pages.entities(anna, "", 10)] == ["ada"]
    assert (await stacks.pages.entity(anna, "ada", 8)).neighbours == []
    assert await stacks.graph.prune() == 2
    assert await stacks.sizes() == (1, 0, 1)


async def test_a_clean_rebuild_is_swapped_in_when_it_is_whole_and_loses_nothing_that_came_meanwhile(
    stacks: Stacks,
) -> None:
    anna = await stacks.rows.user()
    feed = await stacks.rows.feed(anna)
    first = await stacks.article(feed)
    await stacks.say(first, "Wrong", "Ada")
    generation = await stacks.graph.begin_generation()
    assert (await stacks.pages.state(anna)).rebuilding
    await stacks.say(first, "Ada", generation=generation)
    assert {one.key for one in await stacks.pages.entities(anna, "", 10)} == {"wrong", "ada"}
    late = await stacks.article(feed)
    await stacks.say(late, "Late")
    await stacks.graph.swap(generation)
    await stacks.graph.swap(generation)
    assert {one.key for one in await stacks.pages.entities(anna, "", 10)} == {"ada", "late"}
    assert await stacks.keys() == ["ada", "late"]
    assert await stacks.rows.all(select(GraphGenerationRow.state)) == ["current"]


async def test_a_rebuild_that_was_given_up_leaves_nothing_behind(stacks: Stacks) -> None:
    article = await stacks.article(await stacks.rows.feed())
    await stacks.say(article, "Ada")
    await stacks.say(article, "Ada", generation=await stacks.graph.begin_generation())
    generation = await stacks.graph.begin_generation()
    assert await stacks.sizes() == (1, 0, 1)
    assert await stacks.say(article, "Ada", generation=generation)
    assert await stacks.sizes() == (2, 0, 2)


async def test_many_who_add_the_same_names_at_a_time_do_not_stand_in_each_others_way(stacks: Stacks) -> None:
    feed = await stacks.rows.feed()
    names = [f"Name {number}" for number in range(30)]
    articles = [await stacks.article(feed) for _ in range(8)]
    documents = [
        await stacks.document(article, *(names if number % 2 else names[::-1]), relations=[(names[0], "is", names[1])])
        for number, article in enumerate(articles)
    ]
    added = await asyncio.gather(*(stacks.graph.add([document]) for document in documents))
    assert [one[0].entry_id for one in added] == articles
    assert await stacks.sizes() == (30, 1, 8 * 31)


async def test_entries_near_a_question_name_its_entities_and_then_their_neighbours(stacks: Stacks) -> None:
    anna = await stacks.rows.user()
    feed = await stacks.rows.feed(anna)
    both, one, beside, foreign = [await stacks.article(feed) for _ in range(4)]
    await stacks.say(both, "Ada Lovelace", "Charles Babbage", relations=[("Ada Lovelace", "knows", "Charles Babbage")])
    await stacks.say(one, "Ada Lovelace")
    await stacks.say(beside, "Charles Babbage")
    await stacks.say(foreign, "Lovelace", "東京大学")
    near = stacks.reader.entries_near
    assert await near(anna, "What did Ada Lovelace’s work change?", 10) == [both, one, foreign, beside]
    assert await near(anna, "Did Charles Babbage meet Ada Lovelace?", 2) == [both, one]
    assert await near(anna, "東京大学はどこですか", 10) == [foreign]
    assert await near(anna, "nothing of this", 10) == []
    assert not await near(anna, " ?! ", 10)


async def test_another_context_of_the_same_text_is_taken_in(stacks: Stacks) -> None:
    article, text = await stacks.article(await stacks.rows.feed(), "The text."), "The text."
    contexts = SqlContexts(stacks.database)
    assert await contexts.save(context(article, text, "Ada"), NOW)
    await stacks.say(article, "Ada")
    assert await contexts.save(context(article, text, "Ada"), NOW)
    assert await stacks.queue.find_missing([article]) == []
    assert await contexts.save(context(article, text, "Ada", "Charles"), NOW)
    assert await stacks.queue.find_missing([article]) == [article]


async def test_an_entry_that_has_no_settled_text_yet_is_not_pending(stacks: Stacks) -> None:
    feed = await stacks.rows.feed()
    await stacks.article(feed, fetch_state="waiting")
    await stacks.article(feed, distil_state="waiting")
    assert await stacks.queue.find_pending((), 0, 10, failed=False) == []
