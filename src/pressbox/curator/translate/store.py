"""Translations in PostgreSQL, and the entries that need one. Selection is by state."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ColumnElement, ForeignKey, Text, and_, exists, func, literal, or_, select, tuple_
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.library.contracts import EntryProgressState
from pressbox.curator.library.domain import ENRICHMENT_CHANGED, FetchState, content_hash
from pressbox.curator.library.rows import SCHEMA, EntryBodyRow, EntryRow, SubscriptionRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.text.plain_text import make_storable
from pressbox.curator.translate.activities import StoredTranslation, TranslationSource
from pressbox.curator.translate.blocks import BlockKind, find_blocks, plain_words, text_block
from pressbox.curator.translate.contracts import TranslationCursor, TranslationSelection
from pressbox.curator.translate.domain import BlockTranslation, UntranslatedReason


class EntryTranslationRow(Base):
    """An entry in another language: `blocks` has the translation of each block, or the reason why there is none."""

    __tablename__ = "entry_translations"
    __table_args__ = (SCHEMA,)

    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True)
    language: Mapped[str] = mapped_column(Text, primary_key=True)
    provider: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text, server_default="")
    # Of the text that was translated: another text needs another translation.
    content_hash: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text, server_default="")
    blocks: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    # Nothing of that text is left to translate.
    complete: Mapped[bool] = mapped_column(Boolean, server_default="false")
    at: Mapped[datetime]


class SqlTranslations(SqlStore):
    async def select(
        self, entry_ids: Sequence[int], language: str, after: TranslationCursor | None, limit: int
    ) -> TranslationSelection:
        statement = select(EntryRow.id, EntryRow.title, EntryRow.published_at)
        statement = statement.where(EntryRow.id.in_(entry_ids) if entry_ids else _needs_translation(language))
        if after is not None:
            statement = statement.where(
                tuple_(EntryRow.published_at, EntryRow.id)
                < tuple_(literal(after.published_at), literal(after.entry_id))
            )
        newest = statement.order_by(EntryRow.published_at.desc(), EntryRow.id.desc()).limit(limit + 1)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(newest)).tuples().all()
        page = rows[:limit]
        return TranslationSelection(
            entries=tuple(EntryProgressState(entry_id=entry_id, title=title) for entry_id, title, _ in page),
            after=TranslationCursor(entry_id=page[-1][0], published_at=page[-1][2]) if page else None,
            more=len(rows) > limit,
        )

    async def find_source(self, entry_id: int) -> TranslationSource | None:
        async with self._database.unit_of_work() as work:
            return await _find_source(work.session, entry_id)

    async def find(self, entry_id: int, language: str) -> StoredTranslation | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(EntryTranslationRow, (entry_id, language))
        return None if row is None else _translation(row)

    async def add(
        self,
        source: TranslationSource,
        language: str,
        provider: str,
        model: str,
        blocks: Sequence[BlockTranslation],
        now: datetime,
    ) -> None:
        async with self._database.unit_of_work() as work:
            # The entry is locked, so that it is neither removed nor changed meanwhile.
            if await work.session.get(EntryRow, source.entry_id, with_for_update=True) is None:
                return
            row = await work.session.get(EntryTranslationRow, (source.entry_id, language))
            if row is None:
                row = EntryTranslationRow(entry_id=source.entry_id, language=language, blocks=[])
                work.session.add(row)
            elif (row.provider, row.model) != (provider, model):
                row.blocks = []
            row.provider, row.model, row.at = provider, model, now
            row.content_hash, row.complete = source.content_hash, False
            row.blocks = _merge(row.blocks, blocks, source)
            row.title = _translated_title(row.blocks, source)
            work.changed(ENRICHMENT_CHANGED, str(source.entry_id))

    async def finish(self, entry_ids: Sequence[int], language: str, now: datetime) -> Sequence[int]:
        saved = []
        async with self._database.unit_of_work() as work:
            for entry_id in sorted(entry_ids):
                row = await work.session.get(EntryTranslationRow, (entry_id, language), with_for_update=True)
                source = await _find_source(work.session, entry_id)
                if row is None or source is None or row.content_hash != source.content_hash:
                    continue
                row.complete, row.at = True, now
                saved.append(entry_id)
                work.changed(ENRICHMENT_CHANGED, str(entry_id))
        return saved


def _needs_translation(language: str) -> ColumnElement[bool]:
    """True for entries of subscribed feeds that have their text, in another language, without a current translation."""
    own_language = func.split_part(func.lower(EntryRow.language), "-", 1)
    translated = exists().where(
        EntryTranslationRow.entry_id == EntryRow.id,
        EntryTranslationRow.language == language,
        EntryTranslationRow.content_hash == EntryRow.content_hash,
        EntryTranslationRow.complete,
    )
    return and_(
        EntryRow.content_hash != "",
        EntryRow.fetch_state != FetchState.WAITING,
        EntryRow.language != "",
        own_language != language.lower().split("-")[0],
        exists().where(SubscriptionRow.feed_id == EntryRow.feed_id),
        ~translated,
    )


async def _find_source(session: AsyncSession, entry_id: int) -> TranslationSource | None:
    has_text = or_(EntryBodyRow.full_content != "", EntryBodyRow.feed_content != "")
    statement = (
        select(EntryRow, EntryBodyRow)
        .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
        .where(EntryRow.id == entry_id, has_text)
    )
    found = (await session.execute(statement)).tuples().one_or_none()
    if found is None:
        return None
    entry, body = found
    html = body.full_content or body.feed_content
    return TranslationSource(
        entry_id=entry.id,
        feed_id=entry.feed_id,
        title=entry.title,
        summary=entry.summary,
        html=html,
        language=entry.language,
        content_hash=entry.content_hash or content_hash(html),
    )


def _merge(
    stored: Sequence[dict[str, Any]], added: Sequence[BlockTranslation], source: TranslationSource
) -> list[dict[str, Any]]:
    """Join both in the order of the article; blocks that it no longer has are dropped."""
    by_key = {block["key"]: block for block in stored}
    by_key |= {one.key: {"key": one.key, "html": make_storable(one.html), "why": one.reason or ""} for one in added}
    present = find_blocks(source.title, source.summary, source.html)
    return [by_key[block.key] for block in present if block.key in by_key]


def _translated_title(blocks: Sequence[dict[str, Any]], source: TranslationSource) -> str:
    keys = [block.key for block in text_block(BlockKind.TITLE, source.title)]
    return next((plain_words(block["html"]) for block in blocks if block["key"] in keys), "")


def _translation(row: EntryTranslationRow) -> StoredTranslation:
    return StoredTranslation(
        entry_id=row.entry_id,
        language=row.language,
        provider=row.provider,
        model=row.model,
        content_hash=row.content_hash,
        title=row.title,
        blocks=[
            BlockTranslation(one["key"], one["html"], UntranslatedReason(one["why"]) if one["why"] else None)
            for one in row.blocks
        ],
        complete=row.complete,
        at=row.at,
    )
