"""Stand-ins for asking: an embedder that knows a few subjects, and entries with their texts in a real database."""

from collections.abc import Sequence

from sqlalchemy import update

from pressbox.core.errors import TransientError
from pressbox.curator.adapters.rows import EntryBodyRow, EntryRow
from pressbox.curator.ports.storage import IndexDocument
from tests.fakes.reader import MODEL, NOW, Library

SUBJECTS = (
    ("bridge", "bridges", "brücke", "river", "crossing", "fluss"),
    ("cake", "oven", "eggs", "baking", "kuchen"),
    ("volcano", "lava", "eruption", "vulkan"),
)


class SubjectEmbedder:
    """One number for each subject: whoever speaks of crossings is near to whoever speaks of bridges."""

    model = MODEL

    def __init__(self) -> None:
        self.away = False

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if self.away:
            raise TransientError("The embedding model is away.")
        return [meaning(text) for text in texts]


def meaning(text: str) -> list[float]:
    said = text.lower()
    return [0.05 + sum(said.count(word) for word in words) for words in SUBJECTS]


async def written(
    library: Library, feed_id: int, title: str, text: str, *, vector: bool = True, story: str = ""
) -> IndexDocument:
    """An entry with this text, as ingestion leaves it, and its document for the index."""
    entry_id = await library.entry(
        feed_id, title, vector=meaning(text) if vector else None, story=story, body=f"<p>{text}</p>", summary=""
    )
    async with library.database.unit_of_work() as work:
        await work.session.execute(
            update(EntryBodyRow).where(EntryBodyRow.entry_id == entry_id).values(filtered_content=text)
        )
        await work.session.execute(update(EntryRow).where(EntryRow.id == entry_id).values(content_hash=f"of {title}"))
    return IndexDocument(entry_id, feed_id, title, "", text, "", "", NOW)
