"""Cards and links of entries in PostgreSQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, ForeignKey, Text, UniqueConstraint, delete, func, select
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.core.errors import NotFoundError
from pressbox.curator.cards.domain import (
    LONGEST_BODY,
    Card,
    CardPage,
    ContextView,
    EnrichmentKind,
    LinkView,
    NewEnrichment,
)
from pressbox.curator.context.domain import ContextLink
from pressbox.curator.context.store import EntryContextRow, EntryLinkRow, build_context
from pressbox.curator.library.domain import ENRICHMENT_CHANGED
from pressbox.curator.library.rows import SCHEMA, EntryRow
from pressbox.curator.library.store import SqlStore, demand_visible, visible_to
from pressbox.curator.library.urls import host_of
from pressbox.curator.text.plain_text import make_storable


class EnrichmentRow(Base):
    """A card beside an entry: a repository on GitHub, or a page that a link leads to. `body_html` is sanitised."""

    __tablename__ = "enrichments"
    __table_args__ = (UniqueConstraint("entry_id", "kind", "key"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(Text)
    key: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text, server_default="")
    url: Mapped[str] = mapped_column(Text, server_default="")
    body_html: Mapped[str] = mapped_column(Text, server_default="")
    facts: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    # Why it could not be read, when it could not.
    reason: Mapped[str] = mapped_column(Text, server_default="")
    # Somebody deleted it; its workflow takes it away.
    hidden: Mapped[bool] = mapped_column(Boolean, server_default="false")
    at: Mapped[datetime]


GONE = "There is no such card, or it is of none of your feeds."


class SqlEnrichments(SqlStore):
    async def find_links(self, entry_id: int, urls: Sequence[str]) -> Sequence[str]:
        statement = select(EntryLinkRow.url).where(EntryLinkRow.entry_id == entry_id, EntryLinkRow.url.in_(urls))
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(statement.order_by(EntryLinkRow.position)))

    async def save(self, enrichment: NewEnrichment, now: datetime) -> int | None:
        values = {
            "title": make_storable(enrichment.title),
            "url": make_storable(enrichment.url),
            "body_html": make_storable(enrichment.body_html) if len(enrichment.body_html) <= LONGEST_BODY else "",
            "facts": dict(enrichment.facts),
            "reason": make_storable(enrichment.reason),
            "hidden": False,
            "at": now,
        }
        key = {"entry_id": enrichment.entry_id, "kind": enrichment.kind.value, "key": make_storable(enrichment.key)}
        async with self._database.unit_of_work() as work:
            entry = select(EntryRow.id).where(EntryRow.id == enrichment.entry_id)
            if await work.session.scalar(entry.with_for_update(read=True)) is None:
                return None
            statement = insert(EnrichmentRow).values(**key, **values)
            saved = statement.on_conflict_do_update(index_elements=list(key), set_=values).returning(EnrichmentRow.id)
            work.changed(ENRICHMENT_CHANGED, str(enrichment.entry_id))
            enrichment_id: int | None = await work.session.scalar(saved)
            return enrichment_id

    async def delete(self, enrichment_id: int) -> bool:
        statement = delete(EnrichmentRow).where(EnrichmentRow.id == enrichment_id).returning(EnrichmentRow.entry_id)
        async with self._database.unit_of_work() as work:
            entry_id = await work.session.scalar(statement)
            if entry_id is not None:
                work.changed(ENRICHMENT_CHANGED, str(entry_id))
        return entry_id is not None

    async def hide(self, user_id: int, enrichment_id: int) -> int:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(EnrichmentRow, enrichment_id, with_for_update=True)
            if row is None:
                raise NotFoundError(GONE)
            await demand_visible(work.session, user_id, row.entry_id)
            row.hidden = True
            work.changed(ENRICHMENT_CHANGED, str(row.entry_id))
            return row.entry_id

    async def panel(self, user_id: int, entry_id: int) -> ContextView:
        async with self._database.unit_of_work() as work:
            session = work.session
            await demand_visible(session, user_id, entry_id)
            entry = (
                await session.execute(select(EntryRow.title, EntryRow.content_hash).where(EntryRow.id == entry_id))
            ).one()
            row = await session.get(EntryContextRow, entry_id)
            links = await _links(session, entry_id)
            cards = await _cards(session, entry_id)
        pages = {card.key: card for card in cards if card.kind is EnrichmentKind.LINK}
        return ContextView(
            entry_id=entry_id,
            title=entry.title,
            context=None if row is None else build_context(row, ()),
            current=row is None or entry.content_hash in ("", row.content_hash),
            found_at=None if row is None else row.at,
            links=_join_pages(links, pages),
            repositories=[card for card in cards if card.kind is EnrichmentKind.GITHUB],
        )

    async def page(self, user_id: int, enrichment_id: int) -> CardPage:
        statement = (
            select(EnrichmentRow, EntryRow.title)
            .join(EntryRow, EntryRow.id == EnrichmentRow.entry_id)
            .where(EnrichmentRow.id == enrichment_id, ~EnrichmentRow.hidden, visible_to(user_id))
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().one_or_none()
        if found is None:
            raise NotFoundError(GONE)
        row, title = found
        return CardPage(_card(row, bool(row.body_html)), row.body_html, title)

    async def require_visible(self, user_id: int, entry_ids: Sequence[int]) -> None:
        async with self._database.unit_of_work() as work:
            for entry_id in entry_ids:
                await demand_visible(work.session, user_id, entry_id)


async def _links(session: AsyncSession, entry_id: int) -> Sequence[ContextLink]:
    statement = select(EntryLinkRow).where(EntryLinkRow.entry_id == entry_id).order_by(EntryLinkRow.position)
    return [ContextLink(row.url, row.title) for row in await session.scalars(statement)]


async def _cards(session: AsyncSession, entry_id: int) -> Sequence[Card]:
    """Without their bodies: a README may be as long as a book."""
    columns = (column for column in EnrichmentRow.__table__.columns if column.name not in ("body_html", "hidden"))
    statement = (
        select(*columns, (func.length(EnrichmentRow.body_html) > 0).label("has_body"))
        .where(EnrichmentRow.entry_id == entry_id, ~EnrichmentRow.hidden)
        .order_by(EnrichmentRow.id)
    )
    return [
        Card(**{**row, "kind": EnrichmentKind(row["kind"])}) for row in (await session.execute(statement)).mappings()
    ]


def _card(row: EnrichmentRow, has_body: bool) -> Card:
    return Card(
        id=row.id,
        entry_id=row.entry_id,
        kind=EnrichmentKind(row.kind),
        key=row.key,
        title=row.title,
        url=row.url,
        facts=row.facts,
        reason=row.reason,
        has_body=has_body,
        at=row.at,
    )


def _join_pages(links: Sequence[ContextLink], pages: Mapping[str, Card]) -> list[LinkView]:
    """Pages whose link is no longer in the text come last: they were asked for, so they stay."""
    shown = [LinkView(link.url, link.title, host_of(link.url), pages.get(link.url)) for link in links]
    known = {link.url for link in links}
    return shown + [LinkView(url, card.title, host_of(url), card) for url, card in pages.items() if url not in known]
