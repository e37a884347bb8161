"""Lists, articles and search as one person sees them, and what the person does with entries."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.curator.ingest.starter import IngestStarter
from pressbox.curator.reading.domain import (
    NO_ENTRIES,
    ArticleView,
    CountedLabel,
    EntryItem,
    EntryPage,
    Label,
    ListKind,
    ListNote,
    MarkedRead,
    OfflineMark,
    Preference,
    Selection,
    Sort,
    SourceOfStory,
    check_name,
)
from pressbox.curator.reading.selection import Followed
from pressbox.curator.reading.state_store import SqlLabels, SqlReadingStates
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.search.ports import Hit, SearchReader

PAGE = 50
MOST_LISTED = 200
LONGEST_QUERY = 500
RELATED = 6
# How many entries are searched for neighbours in lists that are not ordered by date.
NEIGHBOURHOOD = 200
# So many hits of a search are looked at for copies of one story; further pages look at more, up to the limit.
RANKED = 1_000
MOST_RANKED = 10_000


class ReadingService:
    """Loads lists and articles. `model` names the embedding model whose vectors are compared."""

    def __init__(self, lists: SqlReadingLists, search: SearchReader, model: str, ingest: IngestStarter) -> None:
        self._lists = lists
        self._search = search
        self._model = model
        self._ingest = ingest

    async def load_entries(
        self,
        user_id: int,
        selection: Selection,
        *,
        after: str | None = None,
        limit: int = PAGE,
        followed: Followed | None = None,
    ) -> EntryPage:
        """Load one page of a list. By date, pages neither skip nor repeat an entry while others arrive.

        "Recommended" ranks the newest 2,000 of the list; what the person judged already stands at its end. Whoever
        knows the feeds that the person follows passes them on.
        """
        checked = check_selection(selection)
        size = max(1, min(limit, MOST_LISTED))
        if checked.query:
            return await self._search_entries(user_id, checked, after, size)
        if checked.sort is Sort.RECOMMENDED:
            return await self._lists.load_recommended(user_id, checked, self._model, after, size, followed)
        return await self._lists.load_entries(user_id, checked, after, size, followed)

    async def load_article(self, user_id: int, entry_id: int, selection: Selection | None = None) -> ArticleView:
        """Load one entry with its body; with the list it was opened from, also its neighbours there."""
        article = await self._lists.load_article(user_id, entry_id, _if_by_date(selection))
        return await self._add_neighbours(user_id, article, selection)

    async def open_article(
        self, user_id: int, entry_id: int, selection: Selection, followed: Followed | None = None
    ) -> tuple[ArticleView, Sequence[EntryItem]]:
        """Load one entry with its neighbours, and related entries."""
        by_date = _if_by_date(selection)
        article, related = await self._lists.open_article(user_id, entry_id, by_date, self._model, RELATED, followed)
        return await self._add_neighbours(user_id, article, selection), related

    async def _add_neighbours(self, user_id: int, article: ArticleView, selection: Selection | None) -> ArticleView:
        """Look for the neighbours in lists that are not ordered by date."""
        if selection is None or _if_by_date(selection) is not None:
            return article
        page = await self.load_entries(user_id, selection, limit=NEIGHBOURHOOD)
        previous, following = _neighbours([item.id for item in page.items], article.id)
        return replace(article, previous_id=previous, next_id=following)

    async def load_item(self, user_id: int, entry_id: int) -> EntryItem:
        """Load one entry as a line of a list."""
        found = await self._lists.load_visible(user_id, [entry_id])
        if not found:
            raise NotFoundError("There is no such entry, or it is in none of your feeds.")
        return found[0]

    async def load_related(self, user_id: int, entry_id: int, *, limit: int = RELATED) -> Sequence[EntryItem]:
        """Load other stories that are close in meaning, closest first; none while the entry has no vector."""
        return await self._lists.load_related(user_id, entry_id, self._model, min(limit, MOST_LISTED))

    async def redo(self, user_id: int, entry_id: int) -> str:
        """Fetch and summarise one of the person's entries again; return the id of the workflow."""
        await self._lists.load_article(user_id, entry_id)
        return await self._ingest.reprocess([entry_id], fetch=True, distill=True)

    async def _search_entries(self, user_id: int, selection: Selection, after: str | None, limit: int) -> EntryPage:
        """Search in the list; a story that several feeds brought is one line that names the others."""
        scope = await self._lists.load_search_scope(user_id, selection)
        offset = _offset(after)
        if scope.is_empty:
            return replace(NO_ENTRIES, total=0)
        ranking = await self._search.rank(scope, min(max(RANKED, 2 * (offset + limit)), MOST_RANKED))
        copies = await self._lists.find_copies(ranking.entry_ids)
        stories = [entry_id for entry_id in ranking.entry_ids if entry_id not in copies]
        shown = stories[offset : offset + limit]
        marked = {hit.entry_id: hit for hit in await self._search.show(ranking, shown)}
        folded = [entry_id for entry_id, first in copies.items() if first in marked]
        items = await self._lists.load_listed(user_id, [*marked, *folded], selection)
        following = offset + limit
        return EntryPage(
            tuple(_mark(item, marked[item.id], items, copies) for item in items if item.id in marked),
            after=str(following) if following < len(stories) else None,
            sort=selection.sort,
            note=ListNote.NONE,
            total=ranking.total - len(copies),
        )


def _mark(item: EntryItem, hit: Hit, items: Sequence[EntryItem], copies: Mapping[int, int]) -> EntryItem:
    """Return a line of a search: with the hits marked, and all copies that it stands for."""
    named = {item.id, *(other.entry_id for other in item.others)}
    folded = tuple(
        SourceOfStory(copy.id, copy.feed_id, copy.feed_title, copy.url)
        for copy in items
        if copies.get(copy.id) == item.id and copy.id not in named
    )
    if item.covered:
        return replace(item, others=(*item.others, *(replace(copy, url="") for copy in folded)))
    return replace(item, title_html=hit.title_html, snippet_html=hit.snippet_html, others=(*item.others, *folded))


def check_selection(selection: Selection) -> Selection:
    if selection.kind.named != (selection.id is not None):
        raise InvalidInputError("A category, a feed and a label are named by an id, and nothing else is.", field="id")
    query = " ".join(selection.query.split())
    if len(query) > LONGEST_QUERY:
        raise InvalidInputError(f"Search for at most {LONGEST_QUERY} characters.", field="query")
    unfitting = Sort.RECOMMENDED if query else Sort.RELEVANCE
    return replace(
        selection,
        query=query,
        unread_only=selection.unread_only or selection.kind is ListKind.UNREAD,
        sort=Sort.NEWEST if selection.sort is unfitting else selection.sort,
    )


def _if_by_date(selection: Selection | None) -> Selection | None:
    """Return the list if it is ordered by date."""
    if selection is None:
        return None
    checked = check_selection(selection)
    return None if checked.query or checked.sort is Sort.RECOMMENDED else checked


def _offset(after: str | None) -> int:
    if after is None:
        return 0
    if not (after.isascii() and after.isdigit() and len(after) < 7):
        raise InvalidInputError("This is not the cursor of a page. Begin the list anew.", field="after")
    return int(after)


def _neighbours(ids: Sequence[int], entry_id: int) -> tuple[int | None, int | None]:
    if entry_id not in ids:
        return None, None
    place = ids.index(entry_id)
    return (ids[place - 1] if place else None), (ids[place + 1] if place + 1 < len(ids) else None)


MOST_AT_ONCE = 1000
MOST_LABELS = 50
LONGEST_NOTE = 20_000


class StateService:
    """What a person does with entries. Nobody else sees or changes it."""

    def __init__(
        self,
        states: SqlReadingStates,
        labels: SqlLabels,
        now: Clock = utc_now,
    ) -> None:
        self._states = states
        self._labels = labels
        self._now = now

    async def mark_read(self, user_id: int, entry_ids: Sequence[int], *, read: bool = True) -> None:
        """Mark entries as read or unread, and their copies in other feeds. Entries of others are left alone."""
        if len(entry_ids) > MOST_AT_ONCE:
            raise InvalidInputError(f"At most {MOST_AT_ONCE} entries at a time.", field="entry_ids")
        await self._states.mark_read(user_id, entry_ids, read, self._now())

    async def apply_marks(self, user_id: int, marks: Sequence[OfflineMark]) -> None:
        """Apply marks that were made without network, each of them once, however often it is sent."""
        await self._states.apply_marks(user_id, marks, self._now())

    async def mark_all_read(self, user_id: int, selection: Selection, *, until: datetime) -> MarkedRead:
        """Mark everything in a list that had arrived by `until`, when the person saw it.

        What a search found cannot be marked at once.
        """
        checked = check_selection(selection)
        if checked.query:
            raise InvalidInputError("A search cannot be marked as read at once.", field="query")
        return await self._states.mark_all_read(user_id, checked, until, self._now())

    async def undo_all_read(self, user_id: int, stamp: datetime) -> int:
        """Undo exactly one "all read"; return how many entries are unread again."""
        return await self._states.undo_all_read(user_id, stamp)

    async def star(self, user_id: int, entry_id: int, *, starred: bool = True) -> None:
        await self._states.star(user_id, entry_id, starred, self._now())

    async def prefer(self, user_id: int, entry_id: int, preference: Preference) -> None:
        """Mark an entry up, which also keeps it, or down."""
        await self._states.prefer(user_id, entry_id, preference)

    async def set_note(self, user_id: int, entry_id: int, note: str) -> None:
        """Set a private note; an empty one removes it."""
        if len(note) > LONGEST_NOTE:
            raise InvalidInputError(f"A note has at most {LONGEST_NOTE} characters.", field="note")
        await self._states.set_note(user_id, entry_id, note.strip())

    async def load_labels(self, user_id: int) -> Sequence[CountedLabel]:
        return await self._labels.load_all(user_id)

    async def create_label(self, user_id: int, name: str) -> CountedLabel:
        """Create a label, or return the one that has this name."""
        return await self._labels.create(user_id, check_name(name))

    async def rename_label(self, user_id: int, label_id: int, name: str) -> None:
        await self._labels.rename(user_id, label_id, check_name(name))

    async def delete_label(self, user_id: int, label_id: int) -> None:
        await self._labels.delete(user_id, label_id)

    async def set_labels(self, user_id: int, entry_id: int, names: Sequence[str]) -> Sequence[Label]:
        """Give the entry exactly these labels; new names become labels."""
        if len(names) > MOST_LABELS:
            raise InvalidInputError(f"An entry has at most {MOST_LABELS} labels.", field="labels")
        return await self._labels.set(user_id, entry_id, [check_name(name) for name in names])
