"""Passwords for apps, their tokens and views that are feeds, in PostgreSQL; all end with the account's password."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    ForeignKey,
    Text,
    UniqueConstraint,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute, Mapped, mapped_column

from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Credential, CredentialKind
from pressbox.core.db.base import Base
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.quotas.quota import Quota
from pressbox.core.quotas.store import demand
from pressbox.curator.apps.domain import AppPasswordView, AppPerson, StoredPassword, StoredView
from pressbox.curator.library.quotas import count_own
from pressbox.curator.library.rows import SCHEMA


class AppPasswordRow(Base):
    """A password for one app. It opens the reader's API and nothing else; only its hash is kept."""

    __tablename__ = "app_passwords"
    __table_args__ = (UniqueConstraint("user_id", "name"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(Text)
    # How the password begins: tells which one is meant, so that only one hash is computed.
    hint: Mapped[str] = mapped_column(Text)
    password_hash: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]


class AppTokenRow(Base):
    """What an app got for its password. It ends with the password."""

    __tablename__ = "app_tokens"
    __table_args__ = (SCHEMA,)

    digest: Mapped[str] = mapped_column(Text, primary_key=True)
    app_password_id: Mapped[int] = mapped_column(ForeignKey("curator.app_passwords.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]


class ViewFeedRow(Base):
    """A view of a person as a feed, behind an address that only they know."""

    __tablename__ = "view_feeds"
    __table_args__ = (SCHEMA,)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), index=True)
    token: Mapped[str] = mapped_column(Text, unique=True)
    view: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]


APP_PASSWORDS = Quota("app_passwords", "App passwords", 50, count=count_own(AppPasswordRow.user_id))
VIEW_FEEDS = Quota("view_feeds", "Feeds of views", 100, count=count_own(ViewFeedRow.user_id))
# Apps come every few seconds; that they were here is noted once in a while.
_USED_AGAIN_AFTER = timedelta(minutes=1)


class SqlAppAccess:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, user_id: int, name: str, hint: str, password_hash: str) -> AppPasswordView:
        values = {"user_id": user_id, "name": name, "hint": hint, "password_hash": password_hash}
        try:
            async with self._database.unit_of_work() as work:
                statement = insert(AppPasswordRow).values(values).returning(AppPasswordRow)
                row = (await work.session.execute(statement)).scalar_one()
                await demand(work.session, APP_PASSWORDS, user_id)
                return _view(row)
        except IntegrityError as error:
            raise ConflictError("Another app password has this name already.") from error

    async def all(self, user_id: int) -> Sequence[AppPasswordView]:
        statement = select(AppPasswordRow).where(AppPasswordRow.user_id == user_id).order_by(AppPasswordRow.id)
        async with self._database.unit_of_work() as work:
            return [_view(row) for row in await work.session.scalars(statement)]

    async def revoke(self, user_id: int, password_id: int) -> None:
        gone = delete(AppPasswordRow).where(AppPasswordRow.user_id == user_id, AppPasswordRow.id == password_id)
        async with self._database.unit_of_work() as work:
            if not (await work.session.scalars(gone.returning(AppPasswordRow.id))).all():
                raise NotFoundError("There is no such app password. It may have been removed already.")

    async def candidates(self, email: str, hint: str) -> Sequence[StoredPassword]:
        statement = (
            select(AppPasswordRow.id, AppPasswordRow.user_id, AppPasswordRow.password_hash)
            .join(UserRow, UserRow.id == AppPasswordRow.user_id)
            .where(
                func.lower(UserRow.email) == email.lower(),
                UserRow.disabled_at.is_(None),
                AppPasswordRow.hint == hint,
            )
            .order_by(AppPasswordRow.id)
        )
        async with self._database.unit_of_work() as work:
            return [StoredPassword(*row) for row in (await work.session.execute(statement)).tuples()]

    async def begin(self, password_id: int, digest: str, keep: int) -> None:
        newest = (
            select(AppTokenRow.digest)
            .where(AppTokenRow.app_password_id == password_id)
            .order_by(AppTokenRow.created_at.desc())
            .limit(keep)
        )
        async with self._database.unit_of_work() as work:
            try:
                await work.session.execute(insert(AppTokenRow).values(digest=digest, app_password_id=password_id))
            except IntegrityError as error:
                raise NotFoundError("This app password was removed just now.") from error
            await _note_use(work.session, AppPasswordRow, AppPasswordRow.id == password_id, AppPasswordRow.last_used_at)
            # Some apps sign in whenever they are opened.
            await work.session.execute(
                delete(AppTokenRow).where(
                    AppTokenRow.app_password_id == password_id, AppTokenRow.digest.not_in(newest.scalar_subquery())
                )
            )

    async def find(self, digest: str) -> AppPerson | None:
        statement = (
            select(UserRow.id, UserRow.email, UserRow.name, UserRow.created_at, AppPasswordRow.id)
            .join(AppPasswordRow, AppPasswordRow.user_id == UserRow.id)
            .join(AppTokenRow, AppTokenRow.app_password_id == AppPasswordRow.id)
            .where(AppTokenRow.digest == digest, UserRow.disabled_at.is_(None))
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().one_or_none()
            if found is None:
                return None
            user_id, email, name, since, password_id = found
            await _note_use(work.session, AppPasswordRow, AppPasswordRow.id == password_id, AppPasswordRow.last_used_at)
            await _note_use(work.session, AppTokenRow, AppTokenRow.digest == digest, AppTokenRow.last_used_at)
            return AppPerson(user_id, email, name, since)


class SqlViewFeeds:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, user_id: int, token: str, view: Mapping[str, Any]) -> StoredView:
        mine = ViewFeedRow.user_id == user_id
        async with self._database.unit_of_work() as work:
            same = await work.session.scalar(select(ViewFeedRow).where(mine, ViewFeedRow.view == view))
            if same is not None:
                return stored_feed(same)
            statement = insert(ViewFeedRow).values(user_id=user_id, token=token, view=dict(view))
            row = (await work.session.execute(statement.returning(ViewFeedRow))).scalar_one()
            await demand(work.session, VIEW_FEEDS, user_id)
            return stored_feed(row)

    async def all(self, user_id: int) -> Sequence[StoredView]:
        statement = select(ViewFeedRow).where(ViewFeedRow.user_id == user_id).order_by(ViewFeedRow.id)
        async with self._database.unit_of_work() as work:
            return [stored_feed(row) for row in await work.session.scalars(statement)]

    async def revoke(self, user_id: int, view_id: int) -> None:
        gone = delete(ViewFeedRow).where(ViewFeedRow.user_id == user_id, ViewFeedRow.id == view_id)
        async with self._database.unit_of_work() as work:
            if not (await work.session.scalars(gone.returning(ViewFeedRow.id))).all():
                raise NotFoundError("There is no such feed. It may have been removed already.")

    async def find(self, token: str) -> StoredView | None:
        statement = (
            select(ViewFeedRow)
            .join(UserRow, UserRow.id == ViewFeedRow.user_id)
            .where(ViewFeedRow.token == token, UserRow.disabled_at.is_(None))
        )
        async with self._database.unit_of_work() as work:
            row = await work.session.scalar(statement)
            if row is None:
                return None
            await _note_use(work.session, ViewFeedRow, ViewFeedRow.id == row.id, ViewFeedRow.last_used_at)
            return stored_feed(row)


async def _note_use(
    session: AsyncSession,
    row: type[AppPasswordRow | AppTokenRow | ViewFeedRow],
    which: ColumnElement[bool],
    used: InstrumentedAttribute[datetime | None],
) -> None:
    long_ago = or_(used.is_(None), used < func.now() - _USED_AGAIN_AFTER)
    statement = update(row).where(which, long_ago).values(last_used_at=func.now())
    await session.execute(statement.execution_options(synchronize_session=False))


def _view(row: AppPasswordRow) -> AppPasswordView:
    return AppPasswordView(row.id, row.name, row.hint, row.created_at, row.last_used_at)


def stored_feed(row: ViewFeedRow) -> StoredView:
    return StoredView(row.id, row.user_id, row.token, row.view, row.created_at, row.last_used_at)


async def _load_passwords(session: AsyncSession, user_id: int) -> Sequence[Credential]:
    statement = select(AppPasswordRow).where(AppPasswordRow.user_id == user_id).order_by(AppPasswordRow.id)
    rows = await session.scalars(statement)
    return [Credential(str(row.id), row.name, row.created_at, row.last_used_at) for row in rows]


async def _revoke_passwords(session: AsyncSession, user_id: int, ids: Collection[str]) -> None:
    """What apps got for these passwords ends with them."""
    mine = (AppPasswordRow.user_id == user_id, AppPasswordRow.id.in_([int(one) for one in ids]))
    await session.execute(delete(AppPasswordRow).where(*mine))


async def _load_feeds(session: AsyncSession, user_id: int) -> Sequence[Credential]:
    statement = select(ViewFeedRow).where(ViewFeedRow.user_id == user_id).order_by(ViewFeedRow.id)
    rows = await session.scalars(statement)
    return [Credential(str(row.id), _words(row), row.created_at, row.last_used_at) for row in rows]


async def _revoke_feeds(session: AsyncSession, user_id: int, ids: Collection[str]) -> None:
    mine = (ViewFeedRow.user_id == user_id, ViewFeedRow.id.in_([int(one) for one in ids]))
    await session.execute(delete(ViewFeedRow).where(*mine))


def _words(row: ViewFeedRow) -> str:
    """Enough to recognise the list by: what it searches for, its kind, its number."""
    return f"{row.view.get('query') or row.view.get('kind', '')} ({row.id})"


CREDENTIALS = (
    CredentialKind("app-password", "App passwords", _load_passwords, _revoke_passwords),
    CredentialKind("view-feed", "Lists as feeds", _load_feeds, _revoke_feeds),
)
