"""How an application says what happened. It does not know who hears of it: whoever follows a subject does."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import case, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of, one_of_texts
from pressbox.core.db.database import UnitOfWork
from pressbox.core.notices.outgoing import queue_changed, queue_new
from pressbox.core.notices.rows import NoticeRow
from pressbox.core.notices.withholding import keep_versions, wake, withhold

NOTICE_CHANGED = "notice"


class NoticeState(StrEnum):
    CURRENT = "current"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Notice:
    """Something that happened, in finished English sentences; pages say them in the reader's language.

    `key` names what happened: publishing it again rewrites the notice wherever it is shown. `followed` are the subjects
    that concern it, the closest first: the first one that a person follows is why they hear of it. A `spoiler` tells a
    score: whoever hides scores reads `covered_title` and `covered_detail` until they look at the `subject`.
    What is `optional` is told only to those who chose its kind.
    Whoever was written to is written to again when the `gist` changes; without one that is the title. An application
    that `sends_itself` has its own ways by mail and chat: the notice only goes to the inbox and to browsers.
    """

    key: str
    application: str
    kind: str
    subject: str
    heading: str
    followed: Sequence[str]
    title: str
    path: str
    occurred_at: datetime
    detail: str = ""
    picture: str = ""
    spoiler: bool = False
    covered_title: str = ""
    covered_detail: str = ""
    optional: bool = False
    gist: str = ""
    sends_itself: bool = False
    # The whole of it as plain text, in the language of the one person it is for; a mail has it below the detail.
    body: str | None = None

    def __post_init__(self) -> None:
        if self.spoiler and not self.covered_title:
            raise ValueError(f"The notice {self.key} is a spoiler and does not say what people read who hide scores.")


# What people read. A notice that differs in none of it has not changed.
_SHOWN = ("heading", "title", "detail", "path", "picture", "gist", "spoiler", "covered_title", "covered_detail", "body")
_COVERED = ("covered_title", "covered_detail")

_DELIVER = text("""
    INSERT INTO core.inbox (user_id, notice_id, because, arrived_at, visible_at)
    SELECT DISTINCT ON (follows.user_id, notices.id) follows.user_id, notices.id, follows.subject,
        now() + make_interval(mins => follows.delay_minutes), now() + make_interval(mins => follows.delay_minutes)
    FROM core.notices AS notices
    JOIN core.follows AS follows ON follows.subject = ANY (notices.followed)
    JOIN core.users AS users ON users.id = follows.user_id AND users.disabled_at IS NULL AND users.deleted_at IS NULL
    WHERE notices.id = ANY (:ids)
      AND CASE WHEN follows.kinds IS NULL THEN NOT notices.optional ELSE notices.kind = ANY (follows.kinds) END
      AND NOT EXISTS (
        SELECT FROM core.follows AS muted
        WHERE muted.user_id = follows.user_id AND muted.muted_at IS NOT NULL AND muted.subject = ANY (notices.followed)
    )
    ORDER BY follows.user_id, notices.id, array_position(notices.followed, follows.subject)
    ON CONFLICT DO NOTHING
""")

# What an application chose people for; the closest subject is why they hear of it.
_TELL_EACH = text("""
    INSERT INTO core.inbox (user_id, notice_id, because, arrived_at, visible_at)
    SELECT users.id, notices.id, notices.followed[1],
        now() + make_interval(mins => coalesce(follows.delay_minutes, 0)),
        now() + make_interval(mins => coalesce(follows.delay_minutes, 0))
    FROM unnest(CAST(:keys AS text[]), CAST(:people AS bigint[])) AS told (key, user_id)
    JOIN core.notices AS notices ON notices.key = told.key
    JOIN core.users AS users ON users.id = told.user_id AND users.disabled_at IS NULL AND users.deleted_at IS NULL
    LEFT JOIN core.follows AS follows ON follows.user_id = told.user_id AND follows.subject = notices.followed[1]
    ON CONFLICT DO NOTHING
""")

_TELL = text("""
    INSERT INTO core.inbox (user_id, notice_id, because)
    SELECT id, :id, :because FROM core.users
    WHERE id = ANY (:people) AND disabled_at IS NULL AND deleted_at IS NULL
    ON CONFLICT DO NOTHING
    RETURNING user_id
""")


async def publish(work: UnitOfWork, notices: Collection[Notice]) -> None:
    """Tell the followers of something new; rewrite what was told of before, also when it had been withdrawn."""
    versions = await _write(work, notices)
    if new := _find_new(versions):
        await deliver(work.session, new)
    await _spread(work, notices, versions)


async def publish_among(work: UnitOfWork, told: Sequence[tuple[Notice, Collection[int]]]) -> None:
    """Tell of each notice those of its followers whom the application chose, because not all of them may read it."""
    notices = [notice for notice, _ in told]
    versions = await _write(work, notices)
    if _find_new(versions):
        pairs = [(notice.key, user_id) for notice, people in told for user_id in people]
        values = {"keys": [key for key, _ in pairs], "people": [user_id for _, user_id in pairs]}
        await work.session.execute(_TELL_EACH, values)
    await _spread(work, notices, versions)


def _find_new(versions: Mapping[int, int]) -> Sequence[int]:
    return [number for number, version in versions.items() if version == 1]


async def _spread(work: UnitOfWork, notices: Collection[Notice], versions: Mapping[int, int]) -> None:
    """Let what stands in inboxes be seen at its time, leave by the ways that people chose, and be shown live."""
    if versions and any(notice.spoiler for notice in notices):
        await keep_versions(work.session, versions)
        if new := _find_new(versions):
            await withhold(work.session, new)
    await _queue(work, notices, versions)
    for number in versions:
        work.changed(NOTICE_CHANGED, str(number))


async def deliver(session: AsyncSession, notice_ids: Collection[int]) -> None:
    """Put these into the inboxes of all who follow them now and have not been told."""
    await session.execute(_DELIVER, {"ids": list(notice_ids)})


async def _queue(work: UnitOfWork, notices: Collection[Notice], versions: Mapping[int, int]) -> None:
    """Let what is new leave, and correct what changed, by the ways that people chose."""
    new = _find_new(versions)
    changed = [number for number, version in versions.items() if version > 1]
    if new:
        await queue_new(work.session, new, push_only=all(notice.sends_itself for notice in notices))
    if changed:
        await queue_changed(work.session, changed)


def _row(notice: Notice) -> dict[str, Any]:
    """As it is stored: how it leaves is decided now."""
    row = {**asdict(notice), "followed": list(notice.followed), "gist": notice.gist or notice.title}
    del row["sends_itself"]
    return row


async def _write(work: UnitOfWork, notices: Collection[Notice]) -> Mapping[int, int]:
    """The versions of those that are new or differ from what was told."""
    if not notices:
        return {}
    # In one order, so that two that tell of the same things at once cannot block each other.
    rows = [_row(notice) for notice in sorted(notices, key=lambda one: one.key)]
    statement = insert(NoticeRow).values(rows)
    differs = {name: getattr(NoticeRow, name).is_distinct_from(statement.excluded[name]) for name in _SHOWN}
    recovered = case((or_(*(differs[name] for name in _COVERED)), 1), else_=0)
    written = await work.session.execute(
        statement.on_conflict_do_update(
            index_elements=["key"],
            set_={name: statement.excluded[name] for name in _SHOWN}
            | {"state": NoticeState.CURRENT, "version": NoticeRow.version + 1, "changed_at": func.now()}
            | {"covered_version": NoticeRow.covered_version + recovered},
            where=or_(*differs.values(), NoticeRow.state != NoticeState.CURRENT),
        ).returning(NoticeRow.id, NoticeRow.version)
    )
    return dict(written.tuples().all())


async def publish_to(work: UnitOfWork, notice: Notice, user_ids: Collection[int]) -> None:
    """Tell these people, whatever they follow. Further ones can be told of the same notice later."""
    known = select(NoticeRow.id).where(NoticeRow.key == notice.key)
    # One that is there is only read: several transactions add people to it side by side.
    number = await work.session.scalar(known)
    if number is None:
        # Somebody else may have written it meanwhile.
        number = next(iter(await _write(work, [notice])), None) or await work.session.scalar(known)
    told = await work.session.execute(_TELL, {"id": number, "because": notice.subject, "people": list(user_ids)})
    new = list(told.scalars())
    if new and number is not None:
        if notice.spoiler:
            await keep_versions(work.session, [number])
            await withhold(work.session, [number])
        await queue_new(work.session, [number], new, push_only=notice.sends_itself)
        work.changed(NOTICE_CHANGED, str(number))


async def withdraw(work: UnitOfWork, keys: Collection[str]) -> None:
    """Take back what was told. Whoever has read it reads of it again; what was never told stays untold."""
    if not keys:
        return
    wanted = (
        select(NoticeRow.id)
        .where(NoticeRow.key == one_of_texts(keys), NoticeRow.state == NoticeState.CURRENT)
        .order_by(NoticeRow.key)
        .with_for_update()
    )
    ids = list(await work.session.scalars(wanted))
    if not ids:
        return
    await work.session.execute(
        update(NoticeRow)
        .where(NoticeRow.id == one_of(ids))
        .values(state=NoticeState.WITHDRAWN, version=NoticeRow.version + 1, changed_at=func.now())
    )
    await keep_versions(work.session, ids)
    await wake(work.session, ids)
    await queue_changed(work.session, ids)
    for number in ids:
        work.changed(NOTICE_CHANGED, str(number))
