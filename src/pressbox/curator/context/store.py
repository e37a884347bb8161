"""What entries are about, in PostgreSQL, with the links of their texts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Integer, Text, UniqueConstraint, delete, select
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.context.activities import ContextSource
from pressbox.curator.context.domain import (
    ContextLink,
    ContextMethod,
    Entity,
    EntityKind,
    EntryContext,
    Relationship,
)
from pressbox.curator.library.domain import ENRICHMENT_CHANGED, content_hash
from pressbox.curator.library.rows import SCHEMA, EntryBodyRow, EntryRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.text.plain_text import make_storable, to_plain_text


class EntryContextRow(Base):
    """What an entry is about. `method` says who found it out: rules of ours, or a model."""

    __tablename__ = "entry_contexts"
    __table_args__ = (SCHEMA,)

    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True)
    content_hash: Mapped[str] = mapped_column(Text)
    method: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text, server_default="")
    prompt_version: Mapped[str] = mapped_column(Text, server_default="")
    domain: Mapped[str] = mapped_column(Text, server_default="")
    content_type: Mapped[str] = mapped_column(Text, server_default="")
    language: Mapped[str] = mapped_column(Text, server_default="")
    entities: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    relationships: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    key_points: Mapped[list[str]] = mapped_column(JSONB, server_default="[]")
    at: Mapped[datetime]


class EntryLinkRow(Base):
    """A link that the text of an entry has. Nothing behind it is read unless a person asks."""

    __tablename__ = "entry_links"
    __table_args__ = (UniqueConstraint("entry_id", "url"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"))
    url: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text, server_default="")
    position: Mapped[int] = mapped_column(Integer, server_default="0")


class SqlContexts(SqlStore):
    async def source(self, entry_id: int) -> ContextSource | None:
        async with self._database.unit_of_work() as work:
            found = await _entry(work.session, entry_id, lock=False)
        if found is None:
            return None
        entry, body = found
        text = _text(body)
        if not text.strip():
            return None
        return ContextSource(
            entry_id=entry.id,
            feed_id=entry.feed_id,
            title=entry.title,
            url=entry.url,
            text=text,
            html=body.full_content or body.feed_content,
            language=entry.language,
            content_hash=_hash(entry, body),
        )

    async def of(self, entry_ids: Sequence[int]) -> Mapping[int, EntryContext]:
        contexts = select(EntryContextRow).where(EntryContextRow.entry_id.in_(entry_ids))
        links = select(EntryLinkRow).where(EntryLinkRow.entry_id.in_(entry_ids)).order_by(EntryLinkRow.position)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(contexts)).all()
            found: dict[int, list[ContextLink]] = {}
            for link in await work.session.scalars(links):
                found.setdefault(link.entry_id, []).append(ContextLink(link.url, link.title))
        return {row.entry_id: build_context(row, tuple(found.get(row.entry_id, ()))) for row in rows}

    async def save(self, context: EntryContext, now: datetime) -> bool:
        async with self._database.unit_of_work() as work:
            found = await _entry(work.session, context.entry_id, lock=True)
            if found is None or _hash(*found) != context.content_hash:
                return False
            values = _values(context, now)
            statement = insert(EntryContextRow).values(entry_id=context.entry_id, **values)
            await work.session.execute(statement.on_conflict_do_update(index_elements=["entry_id"], set_=values))
            await write_links(work.session, context.entry_id, context.links)
            work.changed(ENRICHMENT_CHANGED, str(context.entry_id))
        return True

    async def save_links(self, entry_id: int, links: Sequence[ContextLink]) -> bool:
        async with self._database.unit_of_work() as work:
            if await _entry(work.session, entry_id, lock=True) is None:
                return False
            await write_links(work.session, entry_id, links)
            work.changed(ENRICHMENT_CHANGED, str(entry_id))
        return True


async def write_links(session: AsyncSession, entry_id: int, links: Sequence[ContextLink]) -> None:
    """These and no others; one that was there before keeps its row."""
    addresses = [make_storable(link.url) for link in links]
    gone = delete(EntryLinkRow).where(EntryLinkRow.entry_id == entry_id, EntryLinkRow.url.not_in(addresses))
    await session.execute(gone.execution_options(synchronize_session=False))
    if not links:
        return
    statement = insert(EntryLinkRow).values(
        [
            {
                "entry_id": entry_id,
                "url": make_storable(link.url),
                "title": make_storable(link.title),
                "position": position,
            }
            for position, link in enumerate(links)
        ]
    )
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["entry_id", "url"],
            set_={"title": statement.excluded.title, "position": statement.excluded.position},
        )
    )


async def _entry(session: AsyncSession, entry_id: int, *, lock: bool) -> tuple[EntryRow, EntryBodyRow] | None:
    statement = (
        select(EntryRow, EntryBodyRow)
        .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
        .where(EntryRow.id == entry_id)
    )
    if lock:
        # Held against another text, not against others who read it.
        statement = statement.with_for_update(read=True, of=EntryRow)
    return (await session.execute(statement)).tuples().one_or_none()


def _text(body: EntryBodyRow) -> str:
    return body.filtered_content or to_plain_text(body.full_content) or to_plain_text(body.feed_content)


def _hash(entry: EntryRow, body: EntryBodyRow) -> str:
    """An entry whose page has not been fetched has no hash of its own yet."""
    return entry.content_hash or content_hash(_text(body))


def build_context(row: EntryContextRow, links: tuple[ContextLink, ...]) -> EntryContext:
    return EntryContext(
        entry_id=row.entry_id,
        content_hash=row.content_hash,
        method=ContextMethod(row.method),
        model=row.model,
        prompt_version=row.prompt_version,
        domain=row.domain,
        content_type=row.content_type,
        language=row.language,
        entities=tuple(Entity(**{**entity, "kind": EntityKind(entity["kind"])}) for entity in row.entities),
        relationships=tuple(Relationship(**relationship) for relationship in row.relationships),
        key_points=tuple(row.key_points),
        links=links,
    )


def _values(context: EntryContext, now: datetime) -> dict[str, Any]:
    return {
        "content_hash": context.content_hash,
        "method": context.method.value,
        "model": context.model,
        "prompt_version": context.prompt_version,
        "domain": make_storable(context.domain),
        "content_type": make_storable(context.content_type),
        "language": make_storable(context.language),
        "entities": [_storable(asdict(entity)) for entity in context.entities],
        "relationships": [_storable(asdict(relationship)) for relationship in context.relationships],
        "key_points": [make_storable(point) for point in context.key_points],
        "at": now,
    }


def _storable(values: dict[str, str]) -> dict[str, str]:
    return {name: make_storable(value) for name, value in values.items()}
