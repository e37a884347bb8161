"""The stories of a digest from the library: of the person's own feeds, unread, and of this time only."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.digests import DigestSection, DigestSpan
from pressbox.curator.library.rows import EntryRow, StoryRow
from pressbox.curator.reading.digest import write_section
from tests.fakes.curator_rows import Rows

NOW = datetime(2026, 11, 17, 6, 30, tzinfo=UTC)
DAY = timedelta(days=1)
SPAN = DigestSpan(NOW - DAY, NOW, NOW + DAY)


@pytest.fixture
def rows(resources: Resources) -> Rows:
    return Rows(resources.database)


async def add(rows: Rows, feed_id: int, title: str, *, age: timedelta = timedelta(hours=3), **values: Any) -> int:
    seen = NOW - age
    made: dict[str, Any] = {"guid": title, "published_at": seen, "first_seen_at": seen, "updated_at": seen}
    made |= {"fetch_state": "fetched", "distil_state": "distilled", "summary": f"{title} it is. And more."}
    return int((await rows.add(EntryRow(feed_id=feed_id, title=title, **(made | values)))).id)


async def tell(resources: Resources, user_id: int, span: DigestSpan = SPAN) -> DigestSection | None:
    return await write_section(resources, Viewer(user_id), span)


async def test_a_story_of_two_sources_is_one_line_and_comes_first(resources: Resources, rows: Rows) -> None:
    ada = await rows.user()
    news, post = await rows.feed(ada, title="The News"), await rows.feed(ada, title="The Post")
    story = (await rows.add(StoryRow(canonical_url="https://example.org/a"))).id
    first = await add(rows, news, "Shared", story_id=story)
    await add(rows, post, "Shared again", story_id=story)
    await add(rows, news, "Alone", age=timedelta(hours=1))
    section = await tell(resources, ada)
    assert section is not None
    assert section.summary == "2 stories that mattered."
    line = section.lines[0]
    assert (line.title, line.path, line.why) == ("Shared", f"/reader/entries/{first}", "In 2 of your sources.")
    assert line.detail == "The News: Shared it is."


async def test_what_was_read_or_came_at_another_time_or_to_others_is_left_out(resources: Resources, rows: Rows) -> None:
    ada, ben = await rows.user(), await rows.user()
    news, other = await rows.feed(ada, title="The News"), await rows.feed(ben)
    story = (await rows.add(StoryRow(canonical_url="https://example.org/a"))).id
    read = await add(rows, news, "Read", story_id=story)
    copies = await rows.feed(ada)
    await add(rows, copies, "A copy of what was read", story_id=story)
    await rows.do(ada, [read], read_at=NOW)
    await add(rows, news, "Before", age=DAY)
    await add(rows, news, "After", age=-timedelta(minutes=1))
    await add(rows, news, "Old news", published_at=NOW - 30 * DAY)
    await add(rows, other, "Not mine")
    assert await tell(resources, ada) is None
    section = await tell(resources, ben)
    assert section is not None
    assert [line.title for line in section.lines] == ["Not mine"]


async def test_two_spans_side_by_side_share_no_story_and_miss_none(resources: Resources, rows: Rows) -> None:
    ada = await rows.user()
    feeds = [await rows.feed(ada) for _ in range(3)]
    for number, feed in enumerate(feeds):
        await add(rows, feed, f"Story {number}", age=timedelta(hours=12 * number))
    earlier = DigestSpan(NOW - 2 * DAY, NOW - DAY, NOW)
    sections = [await tell(resources, ada, span) for span in (earlier, SPAN)]
    told = [line.title for section in sections if section for line in section.lines]
    assert sorted(told) == ["Story 0", "Story 1", "Story 2"]


async def test_a_source_of_which_a_person_keeps_much_weighs_more(resources: Resources, rows: Rows) -> None:
    ada = await rows.user()
    loved, other = await rows.feed(ada, title="Loved"), await rows.feed(ada, title="Other")
    kept = [await add(rows, loved, f"Kept {number}", age=10 * DAY) for number in range(3)]
    await rows.do(ada, kept, starred_at=NOW - 9 * DAY)
    await add(rows, other, "Newer", age=timedelta(hours=1))
    await add(rows, loved, "From the loved one")
    section = await tell(resources, ada)
    assert section is not None
    assert [line.title for line in section.lines] == ["From the loved one", "Newer"]
    assert section.lines[0].why == "From a source that you often keep."
