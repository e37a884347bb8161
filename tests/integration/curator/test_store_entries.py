"""Entries on their way: chosen by state, saved once, and taken away when nobody needs them."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, text

from pressbox.core.accounts.rows import UserRow
from pressbox.core.clock import utc_now
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.spending.domain import PaidAnswer, PaidCall
from pressbox.core.spending.ledger import SqlLedger
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.curator.articles.domain import FetchedArticle
from pressbox.curator.feeds.domain import FeedEntry
from pressbox.curator.library.domain import CuratorPolicy, Distilled, DistilState, FetchState, shown_hash
from pressbox.curator.library.rows import (
    BACKLOG,
    EntryEmbeddingRow,
    EntryLabelRow,
    EntryRow,
    EntryStateRow,
    SeenGuidRow,
    StoryRow,
)
from pressbox.curator.models.domain import KEEP_PRIVATE
from pressbox.curator.reading.domain import Selection
from pressbox.curator.reading.state_store import SqlReadingStates
from pressbox.curator.search.ports import SearchScope
from pressbox.curator.search.postgres.reader import PostgresReader
from pressbox.curator.search.postgres.writer import PostgresIndex
from tests.fakes.curator_rows import NOW, POLICY, Rows, entry, read
from tests.fakes.spending import spend

HOUR = timedelta(hours=1)
LATER = NOW + HOUR
MODEL = "model o'clock"


@pytest.fixture
def rows(database: Database) -> Rows:
    return Rows(database)


async def crawled(rows: Rows, *numbers: int, **values: object) -> list[int]:
    feed = await rows.feed(await rows.user(), **values)
    await rows.crawl(feed, read(*map(dated, numbers)))
    return await rows.ids(feed)


def dated(number: int) -> FeedEntry:
    """Of an age that gives entries ids in the order of their numbers."""
    return entry(number, published_at=NOW - timedelta(hours=20 - number))


def answer(entry_id: int, content_hash: str = "", lines: tuple[int, int] = (0, 0)) -> Distilled:
    return Distilled(entry_id, "In short.", *lines, "en", "model", "1", content_hash=content_hash)


async def test_a_crash_between_two_steps_loses_nothing(rows: Rows) -> None:
    """After each step somebody else, who was handed nothing, finds exactly the next one."""
    (number,) = await crawled(rows, 1)
    feed = (await rows.one(EntryRow, number)).feed_id

    def successor() -> Rows:
        return Rows(rows.database)

    assert await rows.feeds.find_with_work([feed], NOW) == [feed]
    assert [one.entry_id for one in (await successor().fetches.select_to_fetch(feed, POLICY, NOW)).entries] == [number]
    assert (await successor().summaries.select_for_distillation((), 0, 10)).entries == ()
    await rows.fetched(number, "The article.")
    assert (await successor().fetches.select_to_fetch(feed, POLICY, NOW)).entries == ()
    assert await rows.feeds.find_with_work([feed], NOW) == [feed]
    assert await rows.feeds.find_with_work([feed], NOW, distil=False) == []
    (waiting,) = await successor().summaries.to_distil([number])
    assert waiting.text == "The article."
    assert await successor().summaries.save_distilled([answer(number, waiting.content_hash)], NOW) == [number]
    assert await rows.feeds.find_with_work([feed], NOW) == []
    assert await successor().summaries.to_distil([number]) == []
    assert list(await successor().documents.unindexed_ids(10)) == [number]
    (document,) = await successor().documents.load_documents([number])
    await successor().documents.mark_indexed({number: document.shown_hash})
    assert list(await successor().documents.unindexed_ids(10)) == []
    assert (await successor().embeddings.select_for_embedding(MODEL, 0, 10)).entry_ids == (number,)
    await successor().embeddings.save_embeddings(MODEL, {number: [1.0, 0.0]})
    assert (await successor().embeddings.select_for_embedding(MODEL, 0, 10)).entry_ids == ()


async def test_entries_are_fetched_newest_first_within_the_limit(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(*(entry(number) for number in (3, 1, 2)), title=""))
    first, second, third = await rows.ids(feed)
    page = await rows.fetches.select_to_fetch(feed, CuratorPolicy(entries_per_fetch=2), NOW)
    assert [one.entry_id for one in page.entries] == [first, second]
    assert page.more
    assert page.entries[0].domain == "news.example.org"
    assert page.feed_name.endswith(".example.org")
    source = await rows.fetches.load_source(third)
    assert source is not None
    assert (source.url, source.full_text) == ("https://news.example.org/article/3", True)
    assert await rows.fetches.load_source(third + 1000) is None


async def test_a_failed_fetch_waits_for_its_next_try_and_at_last_keeps_what_the_feed_gave(rows: Rows) -> None:
    (number,) = await crawled(rows, 1)
    feed = (await rows.one(EntryRow, number)).feed_id
    await rows.fetches.record_failure(number, "The server is busy.", LATER, NOW)
    assert (await rows.fetches.select_to_fetch(feed, POLICY, NOW)).entries == ()
    assert await rows.feeds.find_leftovers([], 10, NOW) == []
    assert await rows.feeds.find_leftovers([], 10, LATER) == [feed]
    assert await rows.feeds.find_leftovers([feed], 10, LATER) == []
    source = await rows.fetches.load_source(number)
    assert source is not None
    assert source.tries == 1
    await rows.fetches.record_failure(number, "There is no such page.", None, LATER)
    row = await rows.one(EntryRow, number)
    assert (row.fetch_state, row.fetch_reason) == (FetchState.FAILED, "There is no such page.")
    (waiting,) = await rows.summaries.to_distil([number])
    assert waiting.text == "What the feed says of the article with the name b1."
    await rows.fetched(number, "The article after all.")
    row = await rows.one(EntryRow, number)
    assert (row.fetch_state, row.fetch_reason, row.fetch_tries) == (FetchState.FETCHED, "", 0)


async def test_an_entry_without_any_text_has_nothing_to_distil(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1, content=""), entry(2, content="")))
    empty, failed = await rows.ids(feed)
    await rows.fetched(empty, " ")
    await rows.fetches.record_failure(failed, "Gone.", None, NOW)
    assert {row.distil_state for row in await rows.of_feed(feed)} == {DistilState.NOTHING}


async def test_what_the_page_knows_fills_what_the_feed_left_out(rows: Rows) -> None:
    feed = await rows.feed(await rows.user())
    await rows.crawl(feed, read(entry(1, title="", author=""), entry(2, author="Of the feed")))
    first, second = await rows.ids(feed)
    article = FetchedArticle("<p>x\x00</p>", "x\x00", title="Found", author="Of the page", language="de")
    for number in (first, second):
        await rows.fetches.save_article(number, article, NOW, from_feed=number == second)
    one, two = await rows.of_feed(feed)
    assert (one.title, one.author, one.language) == ("Found", "Of the page", "de")
    assert (two.title, two.author) == ("Article 2", "Of the feed")
    assert (one.fetch_state, two.fetch_state) == (FetchState.FETCHED, FetchState.FROM_FEED)


async def test_a_summary_of_an_older_text_is_not_saved(rows: Rows) -> None:
    (number,) = await crawled(rows, 1, full_text=False)
    (waiting,) = await rows.summaries.to_distil([number])
    await rows.fetched(number, "Another text.")
    assert await rows.summaries.save_distilled([answer(number, waiting.content_hash)], NOW) == []
    assert (await rows.one(EntryRow, number)).distil_state == DistilState.WAITING


async def test_line_numbers_always_mean_the_whole_text(rows: Rows) -> None:
    (number,) = await crawled(rows, 1)
    await rows.fetched(number, "Menu\nFirst.\nSecond.\nFooter")
    for lines, kept in (((1, 2), "First.\nSecond."), ((2, 2), "Second."), ((7, 9), "Menu\nFirst.\nSecond.\nFooter")):
        (waiting,) = await rows.summaries.to_distil([number])
        assert waiting.text == "Menu\nFirst.\nSecond.\nFooter"
        await rows.summaries.save_distilled([answer(number, waiting.content_hash, lines)], NOW)
        assert (await rows.body(number)).filtered_content == kept
        await rows.summaries.distil_again([number])


async def test_lines_that_leave_hardly_anything_of_an_article_are_refused(rows: Rows) -> None:
    (number,) = await crawled(rows, 1)
    article = "\n".join(
        ["By our correspondent", *(f"Paragraph {n} tells what happened in the town." for n in range(50))]
    )
    await rows.fetched(number, article)
    (waiting,) = await rows.summaries.to_distil([number])
    await rows.summaries.save_distilled([answer(number, waiting.content_hash, (0, 0))], NOW)
    row = await rows.one(EntryRow, number)
    assert (await rows.body(number)).filtered_content == article
    assert (row.summary, row.distil_state) == ("In short.", DistilState.DISTILLED)
    assert (
        row.distil_reason
        == "The article was said to be 1 of 51 lines, which is hardly all of it: the text is kept whole."
    )


async def test_a_failed_distillation_is_kept_with_its_reason_and_can_be_tried_again(rows: Rows) -> None:
    numbers = await crawled(rows, 1, 2, 3, full_text=False)
    await rows.summaries.note_distil_failure(numbers[0], "Nonsense.", NOW)
    page = await rows.summaries.select_for_distillation((), 0, 1)
    assert ([one.entry_id for one in page.entries], page.more) == ([numbers[1]], True)
    page = await rows.summaries.select_for_distillation((), numbers[1], 1)
    assert ([one.entry_id for one in page.entries], page.more) == ([numbers[2]], False)
    row = await rows.one(EntryRow, numbers[0])
    assert (row.distil_state, row.distil_reason) == (DistilState.FAILED, "Nonsense.")
    await rows.summaries.distil_again(numbers[:1])
    chosen = await rows.summaries.select_for_distillation(numbers[:1], 0, 10)
    assert [one.entry_id for one in chosen.entries] == numbers[:1]
    assert (await rows.summaries.select_for_distillation((), 0, 10, feed_id=row.feed_id + 1)).entries == ()


async def test_pages_hear_of_every_step_of_an_entry(rows: Rows) -> None:
    (number,) = await crawled(rows, 1)
    await rows.fetched(number, "The article.")
    await rows.summaries.save_distilled([answer(number)], NOW)
    kinds = await rows.all(select(ChangeRow.kind).where(ChangeRow.kind == "curator.entry"))
    assert len(kinds) == 2


async def test_an_entry_that_changed_while_it_was_indexed_is_indexed_again(rows: Rows) -> None:
    (number,) = await crawled(rows, 1)
    (document,) = await rows.documents.load_documents([number])
    await rows.fetched(number, "Changed meanwhile.")
    await rows.documents.mark_indexed({number: document.shown_hash})
    assert list(await rows.documents.unindexed_ids(10)) == [number]


async def test_the_database_and_the_code_agree_on_what_is_shown(rows: Rows) -> None:
    (number,) = await crawled(rows, 1)
    before = (await rows.one(EntryRow, number)).shown_hash
    body = await rows.body(number)
    assert before == shown_hash("Article 1", "", "", body.filtered_content, body.feed_content)
    await rows.fetched(number, "Größer – 長い")
    row, body = await rows.one(EntryRow, number), await rows.body(number)
    assert row.shown_hash == shown_hash(row.title, row.author, row.summary, "Größer – 長い", body.feed_content)


async def test_documents_hold_text_and_every_word_once(rows: Rows) -> None:
    fetched, fed = await crawled(rows, 1, 2)
    await rows.fetched(fetched, "The article.")
    await rows.fetches.record_failure(fed, "No.", None, NOW)
    one, two = await rows.documents.load_documents([fetched, fed])
    assert (one.filtered_content, one.feed_content) == (
        "The article.",
        "What the feed says of the article with the name b1.",
    )
    assert (two.filtered_content, two.feed_content) == ("What the feed says of the article with the name c2.", "")
    assert list(await rows.documents.ids_after(0, 1)) == [fetched]
    assert await rows.documents.existing_ids([fetched, fed, 10**9]) == {fetched, fed}


async def test_vectors_are_made_of_the_best_text_and_made_anew_when_it_changed(rows: Rows) -> None:
    first, second = await crawled(rows, 1, 2)
    assert (await rows.embeddings.select_for_embedding(MODEL, 0, 10)).entry_ids == ()
    for number in (first, second):
        await rows.fetched(number, f"Article {number}.")
        await rows.summaries.save_distilled([answer(number)], NOW)
    chosen = await rows.embeddings.select_for_embedding(MODEL, 0, 1)
    assert (chosen.entry_ids, chosen.last_entry_id, chosen.remaining) == ((first,), first, 2)
    assert await rows.embeddings.load_texts([first, second]) == {
        first: f"Article {first}.",
        second: f"Article {second}.",
    }
    assert await rows.embeddings.save_embeddings(MODEL, {first: [1.0, 0.0], second: [0.0, 1.0], 10**9: [1.0, 1.0]}) == 2
    assert await rows.embeddings.save_embeddings(MODEL, {first: [0.6, 0.8]}) == 1
    assert (await rows.embeddings.select_for_embedding(MODEL, 0, 10)).entry_ids == ()
    assert (await rows.embeddings.select_for_embedding("another model", 0, 10)).entry_ids == (first, second)
    await rows.fetched(first, "Edited.", LATER)
    await rows.summaries.save_distilled([answer(first)], LATER)
    assert (await rows.embeddings.select_for_embedding(MODEL, 0, 10)).entry_ids == (first,)


async def test_a_vector_waits_for_the_summary_but_not_for_ever(rows: Rows) -> None:
    feed = await rows.feed(await rows.user(), full_text=False)
    long_ago, now = NOW - timedelta(days=365), datetime.now(UTC)
    await rows.crawl(feed, read(entry(1)), long_ago)
    await rows.crawl(feed, read(entry(1), entry(2)), now)
    waited, fresh = await rows.ids(feed)
    assert (await rows.embeddings.select_for_embedding(MODEL, 0, 10)).entry_ids == (waited,)
    await rows.summaries.save_distilled([answer(fresh)], now)
    assert (await rows.embeddings.select_for_embedding(MODEL, 0, 10)).entry_ids == (waited, fresh)


async def test_each_model_has_an_index_of_its_own_that_its_searches_use(rows: Rows) -> None:
    numbers = await crawled(rows, *range(1, 9))
    vectors = {number: [math.cos(number), math.sin(number)] for number in numbers}
    for model, size in ((MODEL, 2), ("another", 3)):
        sized = {number: [*vector, 0.0][:size] for number, vector in vectors.items()}
        for _ in range(2):
            await rows.embeddings.save_embeddings(model, sized)
    made = await rows.all(text("SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%hnsw%' ORDER BY 1"))
    assert len(made) == 2
    async with rows.database.unit_of_work() as work:
        await work.session.execute(text("SET LOCAL enable_seqscan = off"))
        await work.session.execute(text("SET LOCAL enable_sort = off"))
        plan = await work.session.execute(
            text(
                "EXPLAIN SELECT entry_id FROM curator.entry_embeddings WHERE model = 'model o''clock' "
                "ORDER BY embedding::vector(2) <=> '[1,0]'::vector(2) LIMIT 3"
            )
        )
        assert "ix_entry_embeddings_" in "\n".join(plan.scalars())
    assert len(await rows.all(select(EntryEmbeddingRow.entry_id))) == 16


async def test_cleanup_takes_only_what_every_subscriber_read_and_nobody_kept(rows: Rows) -> None:
    anna, ben, former = await rows.user(), await rows.user(), await rows.user()
    feed = await rows.feed(anna, ben)
    await rows.crawl(feed, read(*map(dated, range(1, 9))))
    numbers = await rows.ids(feed)
    old, by_one, starred, up, noted, labelled, down, kept_by_former = numbers
    everybody = [number for number in numbers if number != by_one]
    await rows.do(anna, numbers, read_at=NOW)
    await rows.do(ben, everybody, read_at=NOW)
    await rows.do(anna, [starred], starred_at=NOW)
    await rows.do(anna, [up], preference=1)
    await rows.do(ben, [noted], note="Look again.")
    await rows.do(ben, [down], preference=-1)
    await rows.do(former, [kept_by_former], starred_at=NOW)
    await rows.add(EntryLabelRow(label_id=await rows.label(ben), entry_id=labelled))
    await rows.embeddings.save_embeddings(MODEL, {old: [1.0, 0.0]})

    assert (await rows.cleanup.clean_up(NOW - timedelta(days=7), False, 10)).deleted == 0
    trial = await rows.cleanup.clean_up(NOW, True, 1)
    assert (trial.deleted, trial.more) == (2, False)
    assert await rows.ids(feed) == numbers
    first = await rows.cleanup.clean_up(NOW, False, 1)
    assert (first.deleted, first.more, first.removed) == (1, True, (old,))
    second = await rows.cleanup.clean_up(NOW, False, 10)
    assert (second.removed, second.more) == ((down,), False)
    assert await rows.ids(feed) == [number for number in numbers if number not in (old, down)]
    assert sorted(await rows.all(select(SeenGuidRow.guid))) == ["guid-1", "guid-7"]
    assert await rows.all(select(EntryEmbeddingRow.entry_id)) == []
    assert len(await rows.all(select(StoryRow.id))) == 6
    assert list(await rows.documents.removed_ids(10)) == [old, down]
    await rows.documents.forget_removed([old])
    assert list(await rows.documents.removed_ids(10)) == [down]
    again = await rows.crawl(feed, read(*(entry(number) for number in range(1, 9))), LATER)
    assert (again.created, again.updated) == (0, 0)
    assert (await rows.unread(anna, feed), await rows.unread(ben, feed)) == (0, 1)


async def test_cleanup_takes_what_nobody_reads_when_it_has_been_there_for_long(rows: Rows) -> None:
    anna = await rows.user()
    feed = await rows.feed(anna)
    await rows.crawl(feed, read(dated(1), entry(2, published_at=NOW - timedelta(days=400))))
    early, archived = await rows.ids(feed)
    await rows.crawl(feed, read(dated(1), dated(3), etag="second"), NOW + timedelta(days=100))
    (*_, recent) = await rows.ids(feed)
    now = NOW + timedelta(days=150)

    async def clean_up(unread_days: int) -> tuple[int, ...]:
        unread_before = now - timedelta(days=unread_days)
        return (await rows.cleanup.clean_up(now, False, 10, unread_before=unread_before)).removed

    assert await clean_up(180) == ()
    await rows.do(anna, [early], starred_at=NOW)
    assert await clean_up(120) == (archived,)
    assert await rows.ids(feed) == [early, recent]


async def test_an_account_that_is_disabled_keeps_no_article(rows: Rows) -> None:
    anna, former = await rows.user(), await rows.user()
    feed = await rows.feed(anna, former)
    await rows.crawl(feed, read(dated(1), dated(2)))
    numbers = await rows.ids(feed)
    await rows.do(anna, numbers, read_at=NOW)
    assert (await rows.cleanup.clean_up(NOW, True, 10)).deleted == 0
    async with rows.database.unit_of_work() as work:
        (await work.session.get_one(UserRow, former)).disabled_at = NOW
    assert (await rows.cleanup.clean_up(NOW, False, 10)).removed == tuple(numbers)


async def test_cleanup_empties_answers_that_were_somebody_s_own(rows: Rows) -> None:
    own, article = PaidCall("own", "1", "model", "answer"), PaidCall("article", "1", "model", "distil")
    for call in (own, article):
        await spend(rows.database, call, PaidAnswer("old", 10, 1, 0.25), utc_now() - KEEP_PRIVATE - timedelta(hours=1))
    recent = PaidCall("recent", "1", "model", "answer")
    await spend(rows.database, recent, PaidAnswer("new", 10, 1, 0.25), utc_now() - KEEP_PRIVATE + timedelta(hours=1))
    ledger = SqlLedger(rows.database)
    await rows.cleanup.clean_up(NOW, True, 10)
    assert await ledger.find_answer(own) == "old"
    await rows.cleanup.clean_up(NOW, False, 10)
    assert [await ledger.find_answer(call) for call in (own, article, recent)] == [None, "old", "new"]
    lines = await rows.all(select(PaidRequestRow))
    assert sorted((line.feature, line.answer, line.tokens_in) for line in lines) == [
        ("answer", "", 10), ("answer", "new", 10), ("distil", "old", 10),
    ]  # fmt: skip


async def month_of(rows: Rows, reader: int, **values: object) -> int:
    """A feed that is new to a person, with a post a day."""
    feed = await rows.feed(reader, **values)
    await rows.crawl(feed, read(*(entry(day, published_at=NOW - timedelta(days=day)) for day in range(30))))
    return feed


async def test_the_backlog_of_a_new_feed_outlives_the_night_and_is_found(rows: Rows, database: Database) -> None:
    anna = await rows.user()
    feed = await month_of(rows, anna)
    numbers = await rows.ids(feed)
    index = PostgresIndex(database)
    await index.add(await rows.documents.load_documents(numbers))
    assert await rows.unread(anna, feed) == POLICY.unread_at_start

    cleaned = await rows.cleanup.clean_up(NOW - timedelta(days=7), False, 100)
    assert (cleaned.deleted, await rows.ids(feed)) == (0, numbers)
    await index.remove(await rows.documents.removed_ids(100))
    hits, _ = await PostgresReader(database, rows.documents.load_documents).search(SearchScope("article", None), 50)
    assert {hit.entry_id for hit in hits} == set(numbers)


async def test_what_a_person_read_of_the_backlog_goes_when_it_is_old(rows: Rows, database: Database) -> None:
    anna = await rows.user()
    feed = await month_of(rows, anna)
    by_title = {row.title: row.id for row in await rows.of_feed(feed)}
    opened = by_title["Article 20"]
    await SqlReadingStates(database).mark_read(anna, [opened], True, NOW)
    assert await rows.unread(anna, feed) == POLICY.unread_at_start
    assert (await rows.cleanup.clean_up(NOW - timedelta(days=7), False, 100)).removed == (opened,)


async def test_all_read_takes_the_unread_ones_and_neither_it_nor_its_undoing_the_backlog(
    rows: Rows, database: Database
) -> None:
    anna = await rows.user()
    feed = await month_of(rows, anna)
    states, later = SqlReadingStates(database), datetime.now(UTC) + HOUR
    marked = await states.mark_all_read(anna, Selection(), later, NOW)
    assert (marked.count, await rows.unread(anna, feed)) == (POLICY.unread_at_start, 0)
    assert (await rows.cleanup.clean_up(NOW - timedelta(days=7), True, 100)).deleted == 2
    assert await states.undo_all_read(anna, NOW) == POLICY.unread_at_start
    assert await rows.unread(anna, feed) == POLICY.unread_at_start


async def test_the_backlog_that_an_earlier_release_marked_is_kept_too(rows: Rows, database: Database) -> None:
    anna = await rows.user()
    await month_of(rows, anna)
    async with database.unit_of_work() as work:
        await work.session.execute(
            text("UPDATE curator.entry_states SET read_at = s.created_at FROM curator.subscriptions AS s")
        )
    assert (await rows.cleanup.clean_up(NOW, True, 100)).deleted == 0


async def test_a_read_copy_of_a_story_is_read_although_another_is_backlog(rows: Rows) -> None:
    anna = await rows.user()
    story = {"url": "https://news.example.org/one", "published_at": NOW - timedelta(days=20)}
    first, backlog, late = [await rows.feed(anna) for _ in range(3)]
    for feed in (first, backlog):
        await rows.crawl(feed, read(entry(1, **story)))
    (opened,), (waiting,) = await rows.ids(first), await rows.ids(backlog)
    await rows.do(anna, [opened], read_at=NOW)
    await rows.do(anna, [waiting], read_at=BACKLOG)
    await rows.crawl(late, read(entry(1, **story)))
    (copy,) = await rows.ids(late)
    assert (await rows.one(EntryStateRow, (anna, copy))).read_at == NOW


CALL = PaidCall("hash", "prompt-1", "model", "distil", None, 7)


async def test_a_known_answer_survives_and_is_not_paid_again(database: Database) -> None:
    assert await SqlLedger(database).find_answer(CALL) is None
    await spend(database, CALL, PaidAnswer('{"summary": "In short."}', 100, 20, 0.5), NOW)
    assert await SqlLedger(database).find_answer(CALL) == '{"summary": "In short."}'
    for other in (
        PaidCall("other hash", "prompt-1", "model", "distil", None, 7),
        PaidCall("hash", "prompt-2", "model", "distil", None, 7),
        PaidCall("hash", "prompt-1", "other model", "distil", None, 7),
    ):
        assert await SqlLedger(database).find_answer(other) is None


async def test_the_budget_of_the_day_begins_at_midnight_in_utc(database: Database) -> None:
    ledger = SqlLedger(database)
    midnight = NOW.replace(hour=0)
    await spend(database, CALL, PaidAnswer("a", 100, 20), midnight - timedelta(seconds=1))
    assert (await ledger.spent_today(midnight - timedelta(seconds=1))).tokens == 120
    assert (await ledger.spent_today(midnight)).tokens == 0
    await spend(database, PaidCall("b", "1", "model", "distil", None, None), PaidAnswer("b", 3, 4), midnight)
    assert (await ledger.spent_today(NOW)).tokens == 7


async def test_two_who_paid_for_the_same_keep_both_costs(rows: Rows) -> None:
    ledger = SqlLedger(rows.database)
    call = PaidCall("hash", "1", "model", "distil", 7, 3)
    await spend(rows.database, call, PaidAnswer("first", 10, 1, 0.25), NOW)
    await spend(rows.database, call, PaidAnswer("second", 10, 2, 0.25), NOW)
    assert await ledger.find_answer(call) == "second"
    assert (await ledger.spent_today(NOW)).tokens == 23
    lines = await rows.all(select(PaidRequestRow))
    assert [line.cost for line in lines] == [0.25, 0.25]
    assert {(line.item_id, line.source_id) for line in lines} == {(7, 3)}
