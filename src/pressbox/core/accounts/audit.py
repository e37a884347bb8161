"""The audit log: what happened to accounts, when, by whom and from where. No secrets, no e-mail addresses."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import ColumnElement, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressbox.core.accounts.models import Actor, Client
from pressbox.core.accounts.rows import AuditRow, UserRow
from pressbox.core.db.database import Database

LONGEST_AGENT = 300
PAGE = 100


class Action(StrEnum):
    """What can happen. These words are stored: rename none of them."""

    SET_UP = "set up"
    SIGNED_IN = "signed in"
    SIGN_IN_REFUSED = "sign-in refused"
    SIGNED_OUT_EVERYWHERE = "signed out everywhere"
    PROOF_REFUSED = "confirmation refused"
    PASSWORD_CHANGED = "password changed"  # noqa: S105
    PASSWORD_SET = "password set"  # noqa: S105
    RESET_ASKED = "reset asked for"
    RESET_LINK_MADE = "reset link made"
    PASSWORD_RESET = "password reset"  # noqa: S105
    EMAIL_CHANGE_ASKED = "new e-mail address asked for"
    EMAIL_CHANGED = "e-mail address changed"
    SECOND_FACTOR_ADDED = "second factor added"
    SECOND_FACTOR_REMOVED = "second factor removed"
    CODE_REFUSED = "code refused"
    RECOVERY_CODE_USED = "recovery code used"
    PROVIDER_CONNECTED = "provider connected"
    PROVIDER_DISCONNECTED = "provider disconnected"
    CREDENTIAL_ADDED = "credential made"
    CREDENTIAL_REVOKED = "credential revoked"
    USER_ADDED = "user added"
    USER_INVITED = "user invited"
    USER_DISABLED = "user disabled"
    USER_ENABLED = "user enabled"
    USER_DELETED = "user deleted"
    ROLE_CHANGED = "role changed"
    DATA_EXPORTED = "data exported"
    QUOTA_CHANGED = "quota changed"
    SETTINGS_CHANGED = "settings changed"
    SETTINGS_TRIED = "settings tried"
    TEMPORAL_UI_OPENED = "Temporal UI opened"
    UNTRUSTED_PROXY = "untrusted proxy seen"


@dataclass(frozen=True)
class AuditEntry:
    """One line, with the people's addresses of today; without, when they are gone."""

    id: Annotated[int, Field(description="Ask with it as `before` for what is older.")]
    at: datetime
    action: str
    actor_id: int | None
    actor: str | None
    subject_id: int | None
    subject: str | None
    address: str
    agent: str
    detail: dict[str, Any]


@dataclass(frozen=True)
class AuditFilter:
    """Which lines: of a kind of action, about or by a person, from an address, older than a line."""

    action: str = ""
    user_id: int | None = None
    person: str = ""
    address: str = ""
    before: int | None = None


@dataclass(frozen=True)
class AuditLog:
    """What pages and the API read, and where whoever has no transaction of their own writes."""

    database: Database = field(repr=False)

    async def record(
        self, action: Action, actor: Actor, subject_id: int | None = None, **detail: str | int | bool | None
    ) -> None:
        async with self.database.unit_of_work() as work:
            await record(work.session, action, actor, subject_id, **detail)

    async def read(self, wanted: AuditFilter, limit: int = PAGE) -> Sequence[AuditEntry]:
        """Newest first."""
        actor, subject = aliased(UserRow), aliased(UserRow)
        statement = (
            select(AuditRow, actor.email, subject.email)
            .outerjoin(actor, actor.id == AuditRow.actor_id)
            .outerjoin(subject, subject.id == AuditRow.subject_id)
            .where(*_conditions(wanted))
            .order_by(AuditRow.id.desc())
            .limit(limit)
        )
        async with self.database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().all()
        return [_entry(row, actor_email, subject_email) for row, actor_email, subject_email in found]


async def record(
    session: AsyncSession,
    action: Action,
    actor: Actor,
    subject_id: int | None = None,
    **detail: str | int | bool | None,
) -> None:
    """Add a line in the transaction of what it is about: both are kept, or neither."""
    client = actor.client
    values = {"action": action, "actor_id": actor.user_id, "subject_id": subject_id, "address": client.address}
    agent = "".join(character for character in client.agent if character.isprintable())[:LONGEST_AGENT]
    await session.execute(insert(AuditRow).values(**values, agent=agent, detail=detail))


async def make_anonymous(session: AsyncSession, user_id: int) -> None:
    """Keep what happened and forget from where: the number of a deleted account says nothing by itself."""
    theirs = or_(AuditRow.actor_id == user_id, AuditRow.subject_id == user_id)
    await session.execute(update(AuditRow).where(theirs).values(address="", agent="", detail={}))


def seen_by_subject(entry: AuditEntry, user_id: int) -> AuditEntry:
    """The line as somebody reads it whom it is about: of others it says no more than that it was somebody else."""
    if entry.actor_id in (None, user_id):
        return entry if entry.subject_id in (None, user_id) else replace(entry, subject=None)
    return replace(entry, actor_id=None, actor=None, address="", agent="")


def nobody(client: Client) -> Actor:
    """Somebody who is not signed in."""
    return Actor(None, client)


def _conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.action:
        conditions.append(AuditRow.action == wanted.action)
    if wanted.user_id is not None:
        conditions.append(or_(AuditRow.actor_id == wanted.user_id, AuditRow.subject_id == wanted.user_id))
    if wanted.person:
        whose = select(UserRow.id).where(func.lower(UserRow.email) == wanted.person.lower()).scalar_subquery()
        conditions.append(or_(AuditRow.actor_id == whose, AuditRow.subject_id == whose))
    if wanted.address:
        conditions.append(AuditRow.address == wanted.address)
    if wanted.before is not None:
        conditions.append(AuditRow.id < wanted.before)
    return conditions


def _entry(row: AuditRow, actor: str | None, subject: str | None) -> AuditEntry:
    return AuditEntry(
        id=row.id,
        at=row.at,
        action=row.action,
        actor_id=row.actor_id,
        actor=actor,
        subject_id=row.subject_id,
        subject=subject,
        address=row.address,
        agent=row.agent,
        detail=row.detail,
    )
