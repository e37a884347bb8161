"""Articles as the search of the top line and the first page show them."""

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

from sqlalchemy import Row, Select, and_, func, select

from pressbox.core.app import Resources, WrittenAbout
from pressbox.core.audiences.members import Viewer
from pressbox.core.clock import utc_now
from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import UnitOfWork
from pressbox.core.db.parameters import PERSON, numbers
from pressbox.core.errors import shorten
from pressbox.core.spending.wiring import budget_status
from pressbox.core.spoilers.store import load_guarded
from pressbox.core.spoilers.titles import GuardedMatch, find_told
from pressbox.core.today.contracts import (
    Attention,
    FoundThing,
    LineKind,
    PageReader,
    SearchGroup,
    SectionView,
    TodaySection,
)
from pressbox.core.web.pages.access import provide
from pressbox.curator.library.domain import FEED_CHANGED, PERSON_CHANGED, CrawlOutcome
from pressbox.curator.library.rows import EntryRow, FeedRow, FeedStateRow, SubscriptionRow
from pressbox.curator.library.store import feed_name
from pressbox.curator.library.urls import site_name
from pressbox.curator.names import PATH
from pressbox.curator.reading.domain import EntryItem, Selection, Sort
from pressbox.curator.reading.selection import load_scope
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.reading.stories import Story, list_uncrawled, load_stories, rank_stories
from pressbox.curator.reading.wiring import reading_service
from pressbox.curator.search.wiring import article_search, embedder
from pressbox.curator.settings import CuratorSettings
from pressbox.curator.text.plain_text import to_plain_text

LONGEST_NOTE = 180
# Copies of a story among the hits take the place of one line.
COPIES = 4
# Of the day's budget, when it is worth a word that it runs out.
SHARE_USED = 0.9
_FAILED = [outcome.value for outcome in CrawlOutcome if outcome.failed]

# Of those that name it, so many of the newest are looked at for their date.
LOOKED_AT = 50
QUOTE = '"'


async def find_written(resources: Resources, viewer: Viewer, about: WrittenAbout) -> Sequence[FoundThing]:
    """Articles of the person's own feeds that name all of it, newest first. An error says that nobody can look."""
    found: dict[int, EntryItem] = {}
    for names in product(*about.names):
        query = " ".join(f'"{name.replace(QUOTE, " ")}"' for name in names)
        chosen = Selection(query=query, sort=Sort.NEWEST)
        page = await reading_service(resources).load_entries(viewer.user_id, chosen, limit=LOOKED_AT)
        fitting = (item for item in page.items if about.since <= item.published_at <= about.until)
        found |= {item.id: item for item in fitting}
    newest = sorted(found.values(), key=lambda item: (item.published_at, item.id), reverse=True)
    return [_article(item) for item in newest[: about.limit]]


async def find_articles(resources: Resources, viewer: Viewer, typed: str, limit: int) -> Sequence[FoundThing]:
    """Articles of the person's own feeds; a story that several brought is one line."""
    query = " ".join(typed.split())
    if not query:
        return ()
    lists = SqlReadingLists(resources.database)
    scope = await lists.load_search_scope(viewer.user_id, Selection(query=query, sort=Sort.RELEVANCE))
    if scope.is_empty:
        return ()
    # Kept for the process: it holds the index open.
    index = await provide(article_search)(resources)
    ranking = await index.rank(scope, limit * COPIES)
    copies = await lists.find_copies(ranking.entry_ids)
    stories = [entry_id for entry_id in ranking.entry_ids if entry_id not in copies]
    rows, guarded = await _load_lines(resources, viewer.user_id, stories)
    return [_found(row, guarded) for row in rows[:limit]]


def _found(row: Row[Any], guarded: Sequence[GuardedMatch]) -> FoundThing:
    match = find_told(f"{row.title}\n{row.url}", guarded)
    title = match.heading if match else row.title or row.url
    return FoundThing(title, f"{PATH}/entries/{row.id}", row.feed or "", row.published_at)


async def _load_lines(
    resources: Resources, user_id: int, entry_ids: Sequence[int]
) -> tuple[Sequence[Row[Any]], Sequence[GuardedMatch]]:
    """What is shown of these, in their order, and the matches whose scores must not be read in it."""
    if not entry_ids:
        return (), ()
    async with resources.database.unit_of_work() as work:
        found = await work.session.execute(_select_lines(), {"person": user_id, "entries": list(entry_ids)})
        rows = {row.id: row for row in found}
        guarded = await load_guarded(work.session, user_id)
    return [rows[entry_id] for entry_id in entry_ids if entry_id in rows], guarded


@cache
def _select_lines() -> Select[Any]:
    own = and_(SubscriptionRow.feed_id == EntryRow.feed_id, SubscriptionRow.user_id == PERSON)
    return (
        select(
            EntryRow.id,
            EntryRow.title,
            EntryRow.url,
            EntryRow.published_at,
            feed_name(SubscriptionRow.title).label("feed"),
        )
        .join(FeedRow, FeedRow.id == EntryRow.feed_id)
        .join(SubscriptionRow, own)
        .where(EntryRow.id == one_of(numbers("entries")))
    )


async def load_front_stories(work: UnitOfWork, resources: Resources, reader: PageReader, limit: int) -> SectionView:
    """What matters of what the person has not read."""
    scope = await load_scope(work.session, reader.user_id, Selection(unread_only=True))
    if not scope.titles:
        return SectionView(begun=False)
    model = embedder(resources.settings.group(CuratorSettings)).model
    stories = await load_stories(work.session, reader.user_id, scope, model) if scope.feed_ids else ()
    guarded = () if reader.sight.unlimited else await load_guarded(work.session, reader.user_id)
    lines = [_line(story, guarded) for story in rank_stories(stories, utc_now())[:limit]]
    waiting = "" if lines else _say_waiting(await list_uncrawled(work.session, list(scope.titles)))
    return SectionView(lines, waiting=waiting)


def _say_waiting(addresses: Sequence[str]) -> str:
    if not addresses:
        return ""
    if len(addresses) > 1:
        return f"{len(addresses)} feeds are being read for the first time."
    return f"{site_name(addresses[0])} is being read for the first time."


async def look_for_trouble(work: UnitOfWork, resources: Resources, viewer: Viewer) -> Sequence[Attention]:
    """Feeds of the person that fail, and, for whoever runs the instance, a budget that is nearly used up."""
    number, name = (await work.session.execute(_select_failing(), {"person": viewer.user_id})).tuples().one()
    found = []
    if number == 1:
        found.append(Attention(f"The feed {name} cannot be read at the moment.", f"{PATH}/sources"))
    elif number:
        found.append(Attention(f"{number} of your feeds cannot be read at the moment.", f"{PATH}/sources"))
    return (*found, *await _look_at_budget(resources, viewer))


@cache
def _select_failing() -> Select[tuple[int, str]]:
    return (
        select(func.count(), func.min(feed_name(SubscriptionRow.title)))
        .select_from(SubscriptionRow)
        .join(FeedRow, FeedRow.id == SubscriptionRow.feed_id)
        .join(FeedStateRow, FeedStateRow.feed_id == FeedRow.id)
        .where(SubscriptionRow.user_id == PERSON, FeedRow.paused_at.is_(None))
        .where(FeedStateRow.outcome.in_(_FAILED))
    )


async def _look_at_budget(resources: Resources, viewer: Viewer) -> Sequence[Attention]:
    if not viewer.is_administrator:
        return ()
    budget = await (await provide(budget_status)(resources)).load_lately()
    shares = [budget.tokens_today / budget.tokens_per_day if budget.tokens_per_day else 0.0]
    shares += [budget.cost_today / budget.cost_per_day] if budget.cost_per_day else []
    if max(shares) < SHARE_USED:
        return ()
    return (Attention(f"{round(100 * max(shares))} percent of today's budget for models is used.", f"{PATH}/costs"),)


def _article(item: EntryItem) -> FoundThing:
    return FoundThing(
        title=item.title or item.url, path=f"{PATH}/entries/{item.id}", detail=item.feed_title, at=item.published_at
    )


def _line(story: Story, guarded: Sequence[GuardedMatch]) -> FoundThing:
    match = find_told(f"{story.title}\n{story.summary}", guarded)
    return FoundThing(
        title=match.heading if match else story.title or story.url,
        path=f"{PATH}/entries/{story.id}",
        detail=story.feed,
        others=story.sources - 1,
        at=story.published_at,
        note="" if match else shorten(to_plain_text(story.summary), LONGEST_NOTE),
    )


SECTIONS = (
    TodaySection(
        "stories",
        "Stories",
        PATH,
        load_front_stories,
        kind=LineKind.STORIES,
        limit=7,
        first_step="curator/_begin.html",
        nothing="You have read everything.",
        topics=(FEED_CHANGED,),
        own_topics=(PERSON_CHANGED,),
    ),
)
GROUPS = (SearchGroup("articles", "Articles", find_articles),)
