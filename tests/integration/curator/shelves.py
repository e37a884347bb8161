"""A search index with a few documents, and what stands in it: whichever implementation it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pressbox.core.db.database import Database
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.ports import Hit, IndexDocument, IndexReader, SearchIndex, SearchScope
from pressbox.curator.search.postgres.reader import PostgresReader
from pressbox.curator.search.postgres.writer import PostgresIndex

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def entry(
    number: int,
    title: str = "",
    text: str = "",
    *,
    author: str = "",
    feed: int = 1,
    summary: str = "",
    feed_text: str = "",
) -> IndexDocument:
    return IndexDocument(number, feed, title, summary, text, feed_text, author, FIRST + timedelta(days=number % 1000))


LIBRARY = (
    entry(1, "The quick brown fox", "It jumps over the lazy dog near the river.", author="Ada Löwenherz"),
    entry(2, "Urteil", "Das Bundesverfassungsgericht hat über die Grundstücksverkehrsgenehmigung entschieden.", feed=2),
    entry(3, "お知らせ", "今日の東京都の天気は晴れのち曇りです。", feed=2),
    entry(4, "新闻", "上海的经济增长速度超过了预期。"),
    entry(5, "뉴스", "서울에서 새로운 지하철 노선을 검색합니다."),
    entry(6, "Rivers", "A book about lakes.", summary="Where the otter lives."),
    entry(7, "Lakes", "A book about rivers and a quick fox that is brown.", feed_text="Only the feed says wombat."),
)


@dataclass
class Shelf:
    """Writes and searches one index. Documents are remembered: an index in tables has them loaded to show them."""

    index: SearchIndex
    reader: IndexReader
    documents: dict[int, IndexDocument] = field(default_factory=dict)

    async def add(self, documents: Iterable[IndexDocument], generation: str = "") -> None:
        given = tuple(documents)
        self.documents.update({one.entry_id: one for one in given})
        await self.index.add(given, generation)

    async def hits(self, query: str, feeds: Sequence[int] | None = None) -> Sequence[Hit]:
        found, total = await self.reader.search(SearchScope(query, feeds), 20)
        assert total == len(found)
        return found

    async def ids(self, query: str, feeds: Sequence[int] | None = None) -> list[int]:
        return [hit.entry_id for hit in await self.hits(query, feeds)]


def tantivy_shelf(folder: Path) -> Shelf:
    return Shelf(TantivyIndex(folder), TantivyReader(folder))


def postgres_shelf(database: Database) -> Shelf:
    documents: dict[int, IndexDocument] = {}

    async def load(entry_ids: Sequence[int]) -> Sequence[IndexDocument]:
        return [documents[entry_id] for entry_id in entry_ids if entry_id in documents]

    return Shelf(PostgresIndex(database), PostgresReader(database, load), documents)
