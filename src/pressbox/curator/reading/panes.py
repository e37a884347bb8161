"""The three panes of the reader: sources with what runs for them, list, article; each can be drawn alone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from urllib.parse import urlencode

from fastapi import Request

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.trees import WorkTree, work_trees
from pressbox.core.spending.domain import BudgetView
from pressbox.core.web.identity import Identity, viewer_of
from pressbox.core.web.languages import choose_language
from pressbox.curator.following.service import ArticleFollows
from pressbox.curator.library.domain import ENRICHMENT_CHANGED, ENTRY_CHANGED, FEED_CHANGED, PERSON_CHANGED
from pressbox.curator.library.subjects import FollowedKind, search_subject
from pressbox.curator.models.store import CostService
from pressbox.curator.reading.access import PATH, Place, milliseconds, wants_images
from pressbox.curator.reading.domain import (
    NO_ENTRIES,
    ArticleView,
    EntryItem,
    EntryPage,
    ListKind,
    Selection,
    SourceLine,
    SourcesView,
)
from pressbox.curator.reading.selection import Followed
from pressbox.curator.reading.service import ReadingService, StateService
from pressbox.curator.reading.sidebar import SqlSidebar
from pressbox.curator.settings import CuratorSettings

ALL = "AllFeedsIngestionWorkflow"
ONE = "SingleFeedIngestionWorkflow"
# Children whose counts reach their parents only at the end; of those for one host, their own parent counts too.
FETCHING = "ScheduleFetchWorkflow"
FETCHING_HOST = "DomainFetchWorkflow"
DISTILLING = "ContentDistillationWorkflow"
MOST_READ = 200
MOST_SHOWN = 3
# Long enough to be seen; the page of the source and the activity page keep it.
FAILURES_SHOWN_FOR = timedelta(minutes=10)


@dataclass(frozen=True)
class WorkLine:
    """Progress of one workflow; `feeds_total` is set for the work on all sources."""

    workflow_id: str
    title: str
    failed: bool
    error: str
    total: int
    fetched: int
    distilled: int
    feeds_done: int = 0
    feeds_total: int = 0


async def load_progress(
    database: Database, viewer: Viewer, feed_ids: Collection[int], only_feed: int | None
) -> Sequence[WorkLine]:
    """Load the work on these sources only: what others read is private."""
    wanted = {only_feed} & set(feed_ids) if only_feed is not None else set(feed_ids)
    kinds = (ONE,) if only_feed is not None else (ALL, ONE)
    since = datetime.now(UTC) - FAILURES_SHOWN_FOR
    found = await work_trees(database, viewer, kinds, failed_after=since, limit=MOST_READ)
    shown = [tree for tree in found if tree.root.workflow_type == ALL or tree.root.detail.get("feedId") in wanted]
    # The work on all sources first.
    shown.sort(key=lambda tree: tree.root.workflow_type != ALL)
    return [_line(tree) for tree in shown[:MOST_SHOWN]]


def _line(tree: WorkTree) -> WorkLine:
    """Sum up the children; the root itself counts articles without a page."""
    report = tree.root

    def count(name: str) -> int:
        value = report.detail.get(name)
        return value if isinstance(value, int) else 0

    whole = report.workflow_type == ALL
    by_children = (tree.sum(kind, "entriesFetched") for kind in (FETCHING, FETCHING_HOST))
    fetched = max(count("contentsFetched"), *by_children)
    distilled = max(count("entriesDistilled"), tree.sum(DISTILLING, "entriesDistilled"))
    return WorkLine(
        workflow_id=report.workflow_id,
        title="" if whole else str(report.detail.get("feedName") or report.title),
        failed=report.state is ProgressState.FAILED,
        error=report.error,
        total=max(count("entriesCreated" if whole else "totalEntries"), fetched, distilled),
        fetched=fetched,
        distilled=distilled,
        feeds_done=count("feedsCompleted") if whole else 0,
        feeds_total=count("feedsTotal") if whole else 0,
    )


# As many as fit a small page; more come while scrolling.
ENTRIES_SHOWN = 15
# With more sources than this the pane shows those with news; the page of sources has all.
SOURCES_SHOWN = 500
WORDS_PER_MINUTE = 230


@dataclass(frozen=True)
class ArticleTab:
    """A tab of an article. Its `name` is part of the address; its `key` opens it, and closes it again."""

    name: str
    title: str
    key: str = ""
    template: str = ""
    stylesheet: str = ""


ARTICLE = ArticleTab("article", "Article")


@dataclass(frozen=True)
class SourceGroup:
    """A category with the sources that the pane shows; sources without a category have no id."""

    category_id: int | None
    name: str
    unread: int
    feeds: Sequence[SourceLine]


@dataclass(frozen=True)
class Panes:
    """Everything that the templates of the reader need. Panes that are not drawn stay empty."""

    place: Place
    identity: Identity
    cursor: int
    images: bool
    pane: str = "list"
    sources: SourcesView[SourceLine] = field(default_factory=lambda: SourcesView((), (), (), 0, 0, 0, 0))
    entries: EntryPage = NO_ENTRIES
    # The source that the list shows, if it shows one.
    feed: SourceLine | None = None
    article: ArticleView | None = None
    related: Sequence[EntryItem] = ()
    tab: ArticleTab = ARTICLE
    # The tabs of this article; none when there is only the article.
    tabs: Sequence[ArticleTab] = ()
    # For the template of the chosen tab, and the words of its address.
    tab_content: object = None
    tab_words: Mapping[str, str] = field(default_factory=dict)
    # The passage at which the article was opened: words of the address, and its text when it is not in the article.
    passage_words: Mapping[str, str] = field(default_factory=dict)
    quote: str = ""
    works: Sequence[WorkLine] = ()
    # Only when it is used up and there is a model.
    budget: BudgetView | None = None
    problem: str = ""
    marked: int = 0
    undo: int | None = None
    shown: int = ENTRIES_SHOWN
    # What of this page the person is told of: the list, the story of the article.
    told: frozenset[str] = frozenset()

    @property
    def selection(self) -> Selection:
        return self.place.selection

    @property
    def followed(self) -> Followed:
        """The person's feeds, so that what belongs to the same page need not load them again."""
        return [(feed.id, feed.title, feed.category_id, feed.unread) for feed in self.sources.feeds]

    @cached_property
    def query(self) -> str:
        return self.place.query()

    @property
    def name(self) -> str:
        """The name of the chosen source, category or label."""
        return self.sources.name(self.selection)

    @cached_property
    def groups(self) -> Sequence[SourceGroup]:
        """Categories, then the sources without one. Of too many only those with news and the chosen one."""
        few = len(self.sources.feeds) <= SOURCES_SHOWN
        left = SOURCES_SHOWN
        groups = [SourceGroup(one.id, one.name, one.unread, one.feeds) for one in self.sources.categories]
        groups.append(SourceGroup(None, "", 0, self.sources.uncategorised))
        shown = []
        for group in groups:
            feeds = [feed for feed in group.feeds if few or feed.unread or self._is_chosen(feed)][:left]
            left -= len(feeds)
            shown.append(SourceGroup(group.category_id, group.name, group.unread, feeds))
        return shown

    def _is_chosen(self, feed: SourceLine) -> bool:
        return self.selection.kind is ListKind.FEED and self.selection.id == feed.id

    @property
    def unnamed(self) -> int:
        return len(self.sources.feeds) - sum(len(group.feeds) for group in self.groups)

    @property
    def unreadable(self) -> Sequence[SourceLine]:
        """The sources of an empty list, when none of them can be read: then "all read" would not be true."""
        asked = [self.feed] if self.feed else list(self.sources.feeds)
        return asked if asked and all(feed.failing for feed in asked) else ()

    @property
    def is_first_reading(self) -> bool:
        """Whether none of the sources of an empty list has been read yet."""
        asked = [self.feed] if self.feed else list(self.sources.feeds)
        return bool(asked) and all(feed.outcome is None for feed in asked)

    @property
    def followable(self) -> str:
        """The subject of the search in all articles, or of the chosen source, category or label, if there is one."""
        chosen = self.selection
        if chosen.query:
            # A search in one list is not followed: it would have to end with the list.
            return search_subject(chosen.query) if chosen.kind is ListKind.ALL else ""
        if chosen.id is None or not self.name:
            return ""
        return FollowedKind(chosen.kind.value).subject(chosen.id)

    @property
    def story(self) -> str:
        """The subject of the story that the article tells."""
        story_id = self.article.story_id if self.article else None
        return "" if story_id is None else FollowedKind.STORY.subject(story_id)

    @property
    def person(self) -> str:
        return f"{PERSON_CHANGED}:{self.identity.user_id}"

    @property
    def list_topics(self) -> str:
        if self.selection.kind is ListKind.FEED:
            return f"{FEED_CHANGED}:{self.selection.id},{self.person}"
        return f"{FEED_CHANGED},{self.person}"

    @property
    def source_topics(self) -> str:
        return f"{FEED_CHANGED},{self.person}"

    @property
    def article_topics(self) -> str:
        if not self.article:
            return ""
        topics = [f"{ENTRY_CHANGED}:{self.article.id}"]
        if self.tab is not ARTICLE:
            topics.append(f"{ENRICHMENT_CHANGED}:{self.article.id}")
        return ",".join((*topics, *getattr(self.tab_content, "topics", ())))

    @property
    def list_part(self) -> str:
        return f"{PATH}/list?{self.query}&shown={self.shown}"

    @property
    def back(self) -> str:
        return f"{PATH}?{self.query}"

    @property
    def more(self) -> str:
        return f"{PATH}?{self.query}&after={self.entries.after}" if self.entries.after else ""

    @property
    def until(self) -> int:
        opened = self.selection.opened_at
        return milliseconds(opened) if opened else 0

    def entry(self, entry_id: int) -> str:
        return f"{PATH}/entries/{entry_id}?{self.query}"

    def part(self, entry_id: int) -> str:
        """Return the address of the article alone, with its tab."""
        words = {"tab": self.tab.name, **self.tab_words} if self.tab is not ARTICLE else self.passage_words
        here = f"&{urlencode(words)}" if words else ""
        return f"{PATH}/entries/{entry_id}/part?{self.query}&peek=1{here}"

    def at_tab(self, tab: str, **words: str) -> str:
        """Return the address of a tab of this article, with these words."""
        address = self.entry(self.article.id) if self.article else self.back
        return address if tab == ARTICLE.name else f"{address}&{urlencode({'tab': tab, **words})}"

    @property
    def minutes(self) -> int:
        return -(-self.article.words // WORDS_PER_MINUTE) if self.article else 0


@dataclass(frozen=True)
class ReaderRequest:
    """A request of the reader: who asks for which list, and the services that answer."""

    request: Request
    parts: Resources
    reading: ReadingService
    states: StateService
    sidebar: SqlSidebar
    costs: CostService
    identity: Identity
    place: Place

    @property
    def user_id(self) -> int:
        return self.identity.user_id

    @property
    def viewer(self) -> Viewer:
        return viewer_of(self.request, self.identity)


async def load_sources(reader: ReaderRequest) -> Panes:
    """Load the left pane, and the source that the list shows.

    It comes first, with the cursor, so that the page hears of changes that happen while the rest is read.
    """
    cursor, sources = await reader.sidebar.open(reader.user_id)
    chosen = reader.place.selection
    feeds = sources.feeds if chosen.kind is ListKind.FEED else ()
    feed = next((feed for feed in feeds if feed.id == chosen.id), None)
    images = wants_images(reader.request)
    return Panes(reader.place, reader.identity, cursor, images, sources=sources, feed=feed)


async def load_entries(reader: ReaderRequest, page: Panes, after: str | None, shown: int) -> tuple[EntryPage, str]:
    """Load the list; for a search that fails, return the reason, so that the page around it stays."""
    chosen, followed = reader.place.selection, page.followed
    try:
        return await reader.reading.load_entries(
            reader.user_id, chosen, after=after, limit=shown, followed=followed
        ), ""
    except (InvalidInputError, TransientError) as error:
        if not reader.place.selection.query:
            raise
        return NO_ENTRIES, error.message


async def mark_opened(reader: ReaderRequest, entry_id: int, *, read: bool) -> None:
    """Mark the entry as read before anything is drawn, so that the page shows it so."""
    if read:
        await reader.states.mark_read(reader.user_id, [entry_id])


async def load_article(reader: ReaderRequest, page: Panes, entry_id: int) -> tuple[ArticleView, Sequence[EntryItem]]:
    """Load the article with its neighbours, and related entries."""
    return await reader.reading.open_article(reader.user_id, entry_id, reader.place.selection, page.followed)


async def add_progress(reader: ReaderRequest, page: Panes) -> Panes:
    """Add the work that runs now, and the token budget when it is used up."""
    chosen = reader.place.selection
    only = chosen.id if chosen.kind is ListKind.FEED else None
    lines = await load_progress(reader.parts.database, reader.viewer, {feed.id for feed in page.sources.feeds}, only)
    has_model = reader.parts.settings.group(CuratorSettings).model_name
    return replace(page, works=lines, budget=await reader.costs.spent_budget() if has_model else None)


async def add_told(reader: ReaderRequest, page: Panes) -> Panes:
    """Add whether the person is told of new articles in this list, and of this story."""
    subjects = [subject for subject in (page.followable, page.story) if subject]
    told = await ArticleFollows(reader.parts.database).find_told(reader.user_id, subjects)
    return replace(page, told=told)


def microseconds(value: datetime) -> int:
    """Return a time as an address carries it, exact to the microsecond."""
    return int(value.timestamp()) * 1_000_000 + value.microsecond


def page_language(reader: ReaderRequest) -> str:
    """Return the language of the person's pages."""
    accepted = reader.request.headers.get("accept-language", "")
    return choose_language(getattr(reader.identity, "language", None), accepted)
