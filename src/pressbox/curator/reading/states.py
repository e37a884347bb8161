"""What a person does with entries: read, star, keep or drop, note, label."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from pressbox.core.errors import InvalidInputError
from pressbox.curator.library.domain.views import LabelView, MarkedRead, Preference, Selection
from pressbox.curator.reading.label_store import SqlLabels
from pressbox.curator.reading.service import checked_selection
from pressbox.curator.reading.state_store import SqlReadingStates
from pressbox.curator.sources.service import checked_name

MOST_AT_ONCE = 1000
MOST_LABELS = 50
LONGEST_NOTE = 20_000


class StateService:
    """Each person's own: nobody else sees or changes it."""

    def __init__(
        self,
        states: SqlReadingStates,
        labels: SqlLabels,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._states = states
        self._labels = labels
        self._now = now

    async def mark_read(self, user_id: int, entry_ids: Sequence[int], *, read: bool = True) -> None:
        """Read or unread; the same story in other feeds with it. Entries that are not the person's are left alone."""
        if len(entry_ids) > MOST_AT_ONCE:
            raise InvalidInputError(f"At most {MOST_AT_ONCE} entries at a time.", field="entry_ids")
        await self._states.mark_read(user_id, entry_ids, read, self._now())

    async def mark_all_read(self, user_id: int, selection: Selection, *, until: datetime) -> MarkedRead:
        """Everything in a list that was there at `until`, when the person saw it; later arrivals stay unread.

        What a search found cannot be marked at once.
        """
        checked = checked_selection(selection)
        if checked.query:
            raise InvalidInputError("A search cannot be marked as read at once.", field="query")
        return await self._states.mark_all_read(user_id, checked, until, self._now())

    async def undo_all_read(self, user_id: int, stamp: datetime) -> int:
        """Take exactly one "all read" back; how many entries are unread again."""
        return await self._states.unmark(user_id, stamp)

    async def star(self, user_id: int, entry_id: int, *, starred: bool = True) -> None:
        await self._states.star(user_id, entry_id, starred, self._now())

    async def prefer(self, user_id: int, entry_id: int, preference: Preference) -> None:
        """Up: more of this, and kept. Down: less of this."""
        await self._states.prefer(user_id, entry_id, preference)

    async def note(self, user_id: int, entry_id: int, note: str) -> None:
        """A private note; an empty one removes it."""
        if len(note) > LONGEST_NOTE:
            raise InvalidInputError(f"A note has at most {LONGEST_NOTE} characters.", field="note")
        await self._states.note(user_id, entry_id, note.strip())

    async def labels(self, user_id: int) -> Sequence[LabelView]:
        return await self._labels.all(user_id)

    async def create_label(self, user_id: int, name: str) -> LabelView:
        """One with this name that exists already is given as it is."""
        return await self._labels.create(user_id, checked_name(name))

    async def rename_label(self, user_id: int, label_id: int, name: str) -> None:
        await self._labels.rename(user_id, label_id, checked_name(name))

    async def delete_label(self, user_id: int, label_id: int) -> None:
        await self._labels.delete(user_id, label_id)

    async def put_labels(self, user_id: int, entry_id: int, names: Sequence[str]) -> Sequence[LabelView]:
        """The entry has exactly these afterwards; new names become labels."""
        if len(names) > MOST_LABELS:
            raise InvalidInputError(f"An entry has at most {MOST_LABELS} labels.", field="labels")
        return await self._labels.put(user_id, entry_id, [checked_name(name) for name in names])
