"""Digests in PostgreSQL: the choices, the claims of those that are due, and what was sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.accounts.models import Role
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.digests import DigestSection
from pressbox.core.notices.publish import Notice, publish_to
from pressbox.core.notices.rows import NoticeRow
from pressbox.digest.domain import Choice, Rhythm, next_due
from pressbox.digest.rows import DigestIssueRow, DigestRow

# Far longer than one page takes: another attempt of the same activity need not wait for its end.
LEASE = timedelta(minutes=10)
# What is being stored at this moment has an earlier time and is not there yet: it belongs to the next digest.
SETTLING = timedelta(minutes=1)
# Until then, another attempt writes about the same time as the one before it, so that nothing is paid for twice.
SAME_TEXT = timedelta(hours=1)
LISTED = 30

_SECTIONS = TypeAdapter(list[DigestSection])

_CLAIM = """
    UPDATE core.digests SET
        lease_owner = :owner,
        lease_until = now() + CAST(:lease AS interval),
        writing_until = greatest(covered_until, CASE
            WHEN writing_until > CAST(:until AS timestamptz) - CAST(:same AS interval) THEN writing_until
            ELSE CAST(:until AS timestamptz)
        END)
    FROM core.users
    WHERE users.id = digests.user_id AND digests.user_id IN (
        SELECT waiting.user_id FROM core.digests AS waiting
        JOIN core.users AS people ON people.id = waiting.user_id
        WHERE {which} AND people.disabled_at IS NULL AND people.deleted_at IS NULL
          AND (waiting.lease_until IS NULL OR waiting.lease_until <= now() OR waiting.lease_owner = :owner)
        ORDER BY waiting.due_at, waiting.user_id LIMIT :limit FOR UPDATE OF waiting SKIP LOCKED
    )
    RETURNING digests.user_id, rhythm, weekday, local_time, zone, due_at, covered_until, writing_until, users.language,
        users.role
"""
_CLAIM_DUE = text(_CLAIM.format(which="waiting.due_at <= :now"))
_CLAIM_ONE = text(_CLAIM.format(which="waiting.user_id = :user_id"))

# Whoever comes second finds another time there, also another attempt with the same name.
_MOVE_ON = text("""
    UPDATE core.digests
    SET due_at = :next, covered_until = :until, writing_until = NULL, lease_owner = NULL, lease_until = NULL
    WHERE user_id = :user_id AND lease_owner = :owner AND covered_until = :since
    RETURNING user_id
""")
_POSTPONE = text("""
    UPDATE core.digests SET lease_until = now() + CAST(:pause AS interval), lease_owner = NULL
    WHERE user_id = :user_id AND lease_owner = :owner
""")
_HAS_DUE = text("""
    SELECT EXISTS (
        SELECT FROM core.digests JOIN core.users ON users.id = digests.user_id
        WHERE due_at <= :now AND (lease_until IS NULL OR lease_until <= now())
          AND disabled_at IS NULL AND deleted_at IS NULL
    )
""")


@dataclass(frozen=True)
class DigestSettings:
    """What a person chose, when their next one is due, and up to where they were told."""

    choice: Choice
    due_at: datetime | None
    covered_until: datetime


@dataclass(frozen=True)
class Claim:
    """Somebody's digest that is being written: about what happened after `since` until `until`."""

    user_id: int
    owner: str
    choice: Choice
    due_at: datetime | None
    since: datetime
    until: datetime
    language: str | None
    is_administrator: bool


@dataclass(frozen=True)
class Issue:
    """A digest that was sent."""

    period: datetime
    rhythm: Rhythm
    since: datetime
    until: datetime
    sections: Sequence[DigestSection]


class DigestStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, user_id: int) -> DigestSettings | None:
        """None for somebody who never chose anything."""
        async with self._database.unit_of_work() as work:
            row = await work.session.get(DigestRow, user_id)
        return None if row is None else DigestSettings(_choice(row), row.due_at, row.covered_until)

    async def save(self, user_id: int, choice: Choice, now: datetime) -> None:
        """The next one comes at the next such time. What happened since the last one stays for it, up to a period.

        One that is being written meanwhile is given up: the new choice counts.
        """
        chosen: dict[str, Any] = {
            "rhythm": choice.rhythm,
            "weekday": choice.weekday,
            "local_time": choice.at,
            "zone": choice.zone,
            "due_at": next_due(choice, now),
            "covered_until": now - SETTLING - choice.rhythm.period,
            "lease_owner": None,
            "lease_until": None,
        }
        statement = insert(DigestRow).values(user_id=user_id, **chosen)
        kept: dict[str, Any] = {name: statement.excluded[name] for name in chosen}
        kept["covered_until"] = func.greatest(DigestRow.covered_until, statement.excluded.covered_until)
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement.on_conflict_do_update(index_elements=["user_id"], set_=kept))

    async def has_due(self, now: datetime) -> bool:
        async with self._database.unit_of_work() as work:
            return bool(await work.session.scalar(_HAS_DUE, {"now": now}))

    async def claim_due(self, owner: str, now: datetime, limit: int) -> Sequence[Claim]:
        """Hand out those that are due and that nobody writes, the longest waiting first."""
        return await self._claim(owner, now, limit)

    async def claim(self, user_id: int, owner: str, now: datetime) -> Claim | None:
        """Hand out the one of this person, due or not; None while it is being written."""
        claims = await self._claim(owner, now, 1, user_id)
        return claims[0] if claims else None

    async def _claim(self, owner: str, now: datetime, limit: int, user_id: int | None = None) -> Sequence[Claim]:
        values = {
            "owner": owner,
            "lease": LEASE,
            "same": SAME_TEXT,
            "until": now - SETTLING,
            "now": now,
            "limit": limit,
            "user_id": user_id,
        }
        statement = _CLAIM_DUE if user_id is None else _CLAIM_ONE
        used = {name: value for name, value in values.items() if f":{name}" in statement.text}
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement, used)).all()
        return [
            Claim(
                user_id=row.user_id,
                owner=owner,
                choice=_choice(row),
                due_at=row.due_at,
                since=row.covered_until,
                until=row.writing_until,
                language=row.language,
                is_administrator=row.role == Role.ADMIN,
            )
            for row in rows
        ]

    async def send(self, claim: Claim, notice: Notice, issue: Issue, next: datetime | None, sent_at: datetime) -> bool:
        """Tell the person and go on to the next one, in one transaction; False when somebody else did."""
        async with self._database.unit_of_work() as work:
            if not await _move_on(work, claim, next, claim.until):
                return False
            await publish_to(work, notice, [claim.user_id])
            known = select(NoticeRow.id).where(NoticeRow.key == notice.key).scalar_subquery()
            await work.session.execute(
                insert(DigestIssueRow).values(
                    user_id=claim.user_id,
                    period=issue.period,
                    notice_id=known,
                    rhythm=issue.rhythm,
                    since=issue.since,
                    until=issue.until,
                    sections=_SECTIONS.dump_python(list(issue.sections), mode="json"),
                    sent_at=sent_at,
                )
            )
        return True

    async def move_on(self, claim: Claim, next: datetime | None, until: datetime) -> bool:
        """Send nothing, and go on to the next one, which begins at `until`."""
        async with self._database.unit_of_work() as work:
            return await _move_on(work, claim, next, until)

    async def postpone(self, claim: Claim, pause: timedelta) -> None:
        """Let it be tried again after a pause. It stays due, and covers the same time."""
        async with self._database.unit_of_work() as work:
            values = {"user_id": claim.user_id, "owner": claim.owner, "pause": pause}
            await work.session.execute(_POSTPONE, values)

    async def load_issue(self, user_id: int, period: datetime) -> Issue | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(DigestIssueRow, (user_id, period))
        return None if row is None else _issue(row)

    async def list_issues(self, user_id: int) -> Sequence[Issue]:
        """Newest first."""
        statement = select(DigestIssueRow).where(DigestIssueRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            rows = await work.session.scalars(statement.order_by(DigestIssueRow.period.desc()).limit(LISTED))
            return [_issue(row) for row in rows]


async def _move_on(work: UnitOfWork, claim: Claim, next: datetime | None, until: datetime) -> bool:
    values = {"next": next, "until": until, "user_id": claim.user_id, "owner": claim.owner, "since": claim.since}
    return await work.session.scalar(_MOVE_ON, values) is not None


def _choice(row: Any) -> Choice:
    return Choice(Rhythm(row.rhythm), row.local_time, row.zone, row.weekday)


def _issue(row: DigestIssueRow) -> Issue:
    return Issue(row.period, Rhythm(row.rhythm), row.since, row.until, _SECTIONS.validate_python(row.sections))
