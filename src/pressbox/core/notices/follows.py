"""What people follow, each for themselves: a team, a league, a match, a feed, a story."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of_texts
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.notices.outgoing import DropReason, drop_unwanted
from pressbox.core.notices.rows import FollowRow, NoticeRow
from pressbox.core.notices.withholding import drop_unseen
from pressbox.core.quotas.quota import Quota
from pressbox.core.quotas.store import demand
from pressbox.core.today.contracts import TODAY_CHANGED

# Noted with its subject whenever somebody begins, changes or ends a follow.
FOLLOW_CHANGED = "follow"


async def count_follows(session: AsyncSession, user_id: int) -> int:
    return await session.scalar(select(func.count()).where(FollowRow.user_id == user_id)) or 0


FOLLOWS = Quota("follows", "Teams, leagues, matches, feeds and stories followed", 50, count=count_follows)


@dataclass(frozen=True)
class Follow:
    """A subject somebody follows, as a line with a link. A muted one stays, and is silent."""

    subject: str
    name: str
    path: str
    muted: bool
    since: datetime
    # Of which kinds of notices they hear, and how many seconds before it begins they are reminded. None: the default.
    kinds: Sequence[str] | None = None
    reminders: Sequence[int] | None = None
    # How many minutes after others they hear of it.
    delay_minutes: int = 0


class PersonalFollows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def follow(self, user_id: int, subject: str, name: str, path: str, timezone: str = "") -> None:
        """Follow it and hear of it, also if it was muted. Times are told in `timezone`, where one is known."""
        row = {"user_id": user_id, "subject": subject, "name": name, "path": path, "timezone": timezone}
        statement = insert(FollowRow).values(row)
        zone = func.coalesce(func.nullif(statement.excluded.timezone, ""), FollowRow.timezone)
        kept = statement.on_conflict_do_update(
            index_elements=["user_id", "subject"],
            set_={"name": name, "path": path, "muted_at": None, "timezone": zone},
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(kept)
            await demand(work.session, FOLLOWS, user_id)
            work.changed(FOLLOW_CHANGED, subject)
            work.changed(TODAY_CHANGED, str(user_id))

    async def unfollow(self, user_id: int, subject: str) -> None:
        async with self._database.unit_of_work() as work:
            await end_follow(work, user_id, subject)

    async def mute(self, user_id: int, subject: str, muted: bool) -> bool:
        """Be silent about it from now on, or no longer; returns whether it is followed at all."""
        value = func.coalesce(FollowRow.muted_at, func.now()) if muted else None
        return await self._change(user_id, subject, muted_at=value)

    async def choose(
        self,
        user_id: int,
        subject: str,
        *,
        kinds: Sequence[str] | None,
        reminders: Sequence[int] | None,
        delay_minutes: int = 0,
    ) -> bool:
        """Hear of these kinds of notices, and be reminded so many seconds before; None is the default of each.

        The delay counts for what is published from now on.
        """
        stored = {"kinds": kinds, "reminders": reminders}
        values = {name: None if value is None else list(value) for name, value in stored.items()}
        return await self._change(user_id, subject, **values, delay_minutes=delay_minutes)

    async def _change(self, user_id: int, subject: str, **values: Any) -> bool:
        """Returns whether it is followed at all."""
        statement = update(FollowRow).where(*_own(user_id, subject)).values(**values).returning(FollowRow.subject)
        async with self._database.unit_of_work() as work:
            found = (await work.session.scalars(statement)).all()
            for changed in found:
                work.changed(FOLLOW_CHANGED, changed)
                work.changed(TODAY_CHANGED, str(user_id))
            if values.get("muted_at") is not None:
                await drop_unwanted(work.session, user_id, subject, DropReason.MUTED)
                await drop_unseen(work.session, user_id, subject)
        return bool(found)

    async def find(self, user_id: int, subject: str) -> Follow | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(FollowRow, (user_id, subject))
        return None if row is None else _follow(row)

    async def list(self, user_id: int) -> Sequence[Follow]:
        """By name, with those that are muted last."""
        statement = select(FollowRow).where(FollowRow.user_id == user_id)
        ordered = statement.order_by(FollowRow.muted_at.is_not(None), func.lower(FollowRow.name), FollowRow.subject)
        async with self._database.unit_of_work() as work:
            return [_follow(row) for row in await work.session.scalars(ordered)]

    async def list_subjects(self, user_id: int, prefix: str) -> frozenset[str]:
        """What this person follows whose subject begins so."""
        async with self._database.unit_of_work() as work:
            return frozenset(await work.session.scalars(_begin_with(prefix).where(FollowRow.user_id == user_id)))


async def end_follow(work: UnitOfWork, user_id: int, subject: str) -> None:
    """Let a person follow something no longer, also because what it was is not theirs any more."""
    gone = delete(FollowRow).where(*_own(user_id, subject)).returning(FollowRow.subject)
    for left in await work.session.scalars(gone):
        work.changed(FOLLOW_CHANGED, left)
    await drop_unwanted(work.session, user_id, subject, DropReason.UNFOLLOWED)
    await drop_unseen(work.session, user_id, subject)
    work.changed(TODAY_CHANGED, str(user_id))


async def name_subject(session: AsyncSession, user_id: int, subject: str, name: str) -> None:
    """Let something that a person follows be called by its new name."""
    await session.execute(update(FollowRow).where(*_own(user_id, subject)).values(name=name))


async def forget_subjects(session: AsyncSession, subjects: Collection[str]) -> None:
    """Let nobody follow these any longer: they are gone."""
    if subjects:
        await session.execute(delete(FollowRow).where(FollowRow.subject == one_of_texts(subjects)))


async def rename_subject(session: AsyncSession, old: str, new: str, path: str = "") -> None:
    """Let whoever follows the old one follow the new one instead; who follows both keeps the new one as it is."""
    follow = FollowRow
    if path:
        await session.execute(update(follow).where(follow.subject == old).values(path=path))
    kept = ("name", "path", "muted_at", "kinds", "reminders", "timezone", "delay_minutes", "created_at")
    columns = (getattr(follow, name) for name in kept)
    moved = select(follow.user_id, literal(new).label("subject"), *columns).where(follow.subject == old)
    names = ["user_id", "subject", *kept]
    await session.execute(insert(FollowRow).from_select(names, moved).on_conflict_do_nothing())
    await session.execute(delete(FollowRow).where(FollowRow.subject == old))


async def rename_followed(session: AsyncSession, subject: str, name: str) -> None:
    """Let those who follow it read its new name."""
    stale = (FollowRow.subject == subject, FollowRow.name != name)
    await session.execute(update(FollowRow).where(*stale).values(name=name))


async def forget_subject(session: AsyncSession, subject: str) -> None:
    """End every follow of a subject that is no more, and remove what was told of nothing else."""
    await session.execute(delete(NoticeRow).where(NoticeRow.followed == [subject]))
    await session.execute(delete(FollowRow).where(FollowRow.subject == subject))


async def list_subjects(session: AsyncSession, prefix: str) -> Sequence[str]:
    """What anybody follows whose subject begins so, also where all of them muted it."""
    return list(await session.scalars(_begin_with(prefix).distinct()))


def _begin_with(prefix: str) -> Select[tuple[str]]:
    return select(FollowRow.subject).where(FollowRow.subject.startswith(prefix, autoescape=True))


def _own(user_id: int, subject: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return FollowRow.user_id == user_id, FollowRow.subject == subject


def _follow(row: FollowRow) -> Follow:
    return Follow(
        subject=row.subject,
        name=row.name,
        path=row.path,
        muted=row.muted_at is not None,
        since=row.created_at,
        kinds=row.kinds,
        reminders=row.reminders,
        delay_minutes=row.delay_minutes,
    )
