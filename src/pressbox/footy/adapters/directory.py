"""The directory of leagues and teams: in PostgreSQL what was met or searched for, and the lists of the program."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.footy.adapters.aliases.club_list import club_list
from pressbox.footy.adapters.name_search import has_word
from pressbox.footy.adapters.rows import DirectoryRow, DirectorySearchRow, TeamRow
from pressbox.footy.domain.directory import Entry, plain_words, searched_text
from pressbox.footy.domain.views import FollowKind
from pressbox.footy.ports.storage import TeamName

MOST_FOUND = 300
# Teams are founded and leagues renamed, but seldom.
SEARCH_LIFE = timedelta(days=30)


class SqlDirectory:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(self, words: Sequence[str]) -> Sequence[Entry]:
        """Leagues and teams that have all of these plain words in a name or the country."""
        statement = select(DirectoryRow, TeamRow.aliases).outerjoin(
            TeamRow, (DirectoryRow.kind == FollowKind.TEAM) & (TeamRow.team_id == DirectoryRow.id)
        )
        for word in words:
            inside = DirectoryRow.words.contains(word, autoescape=True)
            statement = statement.where(
                or_(inside, has_word(DirectoryRow.country, word), has_word(_joined(TeamRow.aliases), word))
            )
        nearest = statement.order_by(func.length(DirectoryRow.name), DirectoryRow.kind, DirectoryRow.id)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(nearest.limit(MOST_FOUND))).tuples().all()
        known = [_entry(row, tuple(aliases or ())) for row, aliases in rows]
        return with_listed(known, words)

    async def load_entry(self, kind: FollowKind, number: int) -> Entry | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(DirectoryRow, (kind, number))
        return _entry(row) if row is not None else find_listed(kind, number)

    async def save(self, entries: Iterable[Entry]) -> None:
        async with self._database.unit_of_work() as work:
            await save_entries(work.session, entries)

    async def is_asked(self, text: str, now: datetime) -> bool:
        """Whether API-Football has answered this search, or one for a beginning of it, which finds the same."""
        beginnings = [text[:length] for length in range(1, len(text) + 1)]
        statement = select(func.count()).where(
            DirectorySearchRow.text.in_(beginnings), DirectorySearchRow.asked_at > now - SEARCH_LIFE
        )
        async with self._database.unit_of_work() as work:
            return bool(await work.session.scalar(statement))

    async def note_asked(self, text: str, entries: Iterable[Entry], now: datetime) -> None:
        statement = insert(DirectorySearchRow).values(text=text, asked_at=now)
        statement = statement.on_conflict_do_update(
            index_elements=["text"], set_={"asked_at": statement.excluded.asked_at}
        )
        async with self._database.unit_of_work() as work:
            await save_entries(work.session, entries)
            await work.session.execute(statement)


async def save_entries(session: AsyncSession, entries: Iterable[Entry]) -> None:
    """The newest name counts; a country that is not told leaves the known one."""
    distinct = {(entry.kind, entry.id): entry for entry in entries}
    if not distinct:
        return
    statement = insert(DirectoryRow)
    country = func.coalesce(func.nullif(statement.excluded.country, ""), DirectoryRow.country)
    statement = statement.on_conflict_do_update(
        index_elements=["kind", "id"],
        set_={"name": statement.excluded.name, "country": country, "words": statement.excluded.words},
    )
    # In a fixed order, so that two runs at once cannot deadlock.
    rows = [
        {
            "kind": entry.kind,
            "id": entry.id,
            "name": entry.name,
            "country": entry.country,
            "words": " ".join(plain_words(entry.name)),
        }
        for _, entry in sorted(distinct.items())
    ]
    await session.execute(statement, rows)


def with_listed(known: Sequence[Entry], words: Sequence[str]) -> Sequence[Entry]:
    """Add what only the lists of the program have."""
    numbers = {(entry.kind, entry.id) for entry in known}
    same = {
        listed
        for entry in known
        if entry.kind is FollowKind.TEAM
        for listed in club_list().identify(TeamName(entry.id, entry.name, entry.country))
    }
    clubs = [entry for entry in club_list().search(words) if entry.id not in same]
    leagues = [
        entry
        for entry in listed_leagues()
        if (entry.kind, entry.id) not in numbers and all(word in searched_text(entry) for word in words)
    ]
    return (*known, *leagues, *clubs)


def find_listed(kind: FollowKind, number: int) -> Entry | None:
    if kind is FollowKind.TEAM:
        return club_list().load_entry(number) if number < 0 else None
    return next((entry for entry in listed_leagues() if entry.id == number), None)


@cache
def listed_leagues() -> Sequence[Entry]:
    """The leagues that come with the program, numbered as API-Football does."""
    text = (resources.files("pressbox.footy") / "data" / "leagues.tsv").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in text.splitlines())
    return tuple(
        Entry(FollowKind.LEAGUE, int(number), name, country, tuple(filter(None, aliases.split("|"))))
        for number, country, name, aliases in lines
    )


def _joined(aliases: Any) -> ColumnElement[str]:
    return func.array_to_string(aliases, " ")


def _entry(row: DirectoryRow, aliases: tuple[str, ...] = ()) -> Entry:
    return Entry(FollowKind(row.kind), row.id, row.name, row.country, aliases)
