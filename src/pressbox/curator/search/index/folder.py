"""The search index on disk: its schema, its generations side by side, and a pointer to the one in use.

Words are indexed as terms between spaces, made by `text.words`; the texts that hits show are stored beside them.
tantivy is imported where it is used: only searching and indexing pay for it.

current           name of the generation in use, replaced atomically
building          name of the generation that is being built
1-20260102…/      a generation: schema version, time, random digits
"""

import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pressbox.core.errors import TransientError
from pressbox.curator.search.domain.highlights import ShownText, text_to_show
from pressbox.curator.search.ports import DamagedIndexError, FoundIndex, IndexDocument
from pressbox.curator.text.words import compose, to_index_terms

if TYPE_CHECKING:
    import tantivy

# Part of every generation's name: an index of another version has to be rebuilt.
SCHEMA_VERSION = "1"

ID, FEED, PUBLISHED, SHOWN = "id", "feedId", "publishedAt", "shown"
# All words of all fields, each once: prefixes and typos are searched in one dictionary instead of five.
WORDS = "words"
TITLE, SUMMARY, CONTENT, FEED_CONTENT, AUTHOR = "title", "summary", "filteredContent", "feedContent", "author"
TEXT_FIELDS = (TITLE, SUMMARY, CONTENT, FEED_CONTENT, AUTHOR)


def build_schema() -> "tantivy.Schema":
    import tantivy

    builder = tantivy.SchemaBuilder()
    # Signed on purpose: deleting by a term of an unsigned field silently deletes nothing.
    builder.add_integer_field(ID, stored=True, indexed=True, fast=True)
    builder.add_integer_field(FEED, indexed=True, fast=True)
    builder.add_integer_field(PUBLISHED, indexed=True, fast=True)
    for name in TEXT_FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    builder.add_text_field(WORDS, tokenizer_name="whitespace", index_option="basic")
    builder.add_bytes_field(SHOWN, stored=True)
    return builder.build()


def build_document(entry: IndexDocument) -> "tantivy.Document":
    import tantivy

    shown = text_to_show(entry)
    document = tantivy.Document()
    document.add_integer(ID, entry.entry_id)
    document.add_integer(FEED, entry.feed_id)
    document.add_integer(PUBLISHED, round(entry.published_at.timestamp() * 1000))
    texts = {
        TITLE: to_index_terms(shown.title),
        SUMMARY: to_index_terms(shown.summary),
        CONTENT: to_index_terms(shown.content),
        AUTHOR: to_index_terms(compose(entry.author)),
    }
    words = {word for terms in texts.values() for word in terms.split()}
    of_feed = to_index_terms(shown.feed_content)
    adds = not words.issuperset(of_feed.split())
    if adds:
        texts[FEED_CONTENT] = of_feed
        words.update(of_feed.split())
    for name, terms in texts.items():
        document.add_text(name, terms)
    document.add_text(WORDS, " ".join(words))
    stored = (shown.title, shown.summary, shown.content, shown.feed_content if adds else "")
    document.add_bytes(SHOWN, json.dumps(stored, ensure_ascii=False).encode("utf-8", "replace"))
    return document


def read_stored(stored: bytes) -> ShownText:
    title, summary, content, feed_content = json.loads(stored)
    return ShownText(title, summary, content, feed_content)


CURRENT = "current"
BUILDING = "building"
# A rebuild that takes longer was abandoned, and is not written to any more.
LONGEST_BUILD = timedelta(days=1)

REPAIR = "It rebuilds itself; `pressbox trigger reindex --clean` does it at once."
# A full disk or a wrong permission is not a damaged index: rebuilding would meet the same.
_DISK_TROUBLES = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.EIO}
_TROUBLES_IN_WORDS = ("no space left", "permission denied", "read-only file system", "too many open files", "quota")


class IndexFolder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def current(self) -> str | None:
        """Return the generation in use, or None before the first entry was indexed."""
        return self._read(CURRENT)

    def building(self) -> str | None:
        name = self._read(BUILDING)
        if name is None or not self.generation(name).is_dir():
            return None
        age = datetime.now(UTC).timestamp() - (self._path / BUILDING).stat().st_mtime
        return name if age < LONGEST_BUILD.total_seconds() else None

    def generation(self, name: str) -> Path:
        return self._path / name

    def open_generation(self, name: str) -> Path:
        """Return the folder of a generation, which must have the present schema version."""
        if name.partition("-")[0] != SCHEMA_VERSION:
            raise DamagedIndexError(f"The search index was built by another version of Pressbox. {REPAIR}")
        return self.generation(name)

    def find(self) -> FoundIndex | None:
        """Return which index is here, or None when there is none."""
        name = self.current()
        if name is None:
            return None
        try:
            meta = json.loads((self.open_generation(name) / "meta.json").read_text(encoding="utf-8"))
            return FoundIndex(name, int(meta["opstamp"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedIndexError(f"The search index has no readable description. {REPAIR}") from error

    def create(self) -> str:
        name = f"{SCHEMA_VERSION}-{datetime.now(UTC):%Y%m%d%H%M%S}-{secrets.token_hex(4)}"
        self.generation(name).mkdir(parents=True)
        return name

    def begin_build(self) -> str:
        """Create a generation to build beside the one in use. The next switch removes what earlier ones left."""
        name = self.create()
        self._write(BUILDING, name)
        return name

    def switch_to(self, name: str) -> None:
        """Use this generation from now on, and remove all others."""
        self._write(CURRENT, name)
        if self._read(BUILDING) == name:
            (self._path / BUILDING).unlink(missing_ok=True)
        for other in self._path.iterdir():
            # Readers that have it open keep its files until they close it.
            if other.is_dir() and other.name != name and other.name != self._read(BUILDING):
                shutil.rmtree(other, ignore_errors=True)

    def _read(self, pointer: str) -> str | None:
        try:
            return (self._path / pointer).read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def _write(self, pointer: str, name: str) -> None:
        """Replace a pointer atomically, even when the power fails."""
        self._path.mkdir(parents=True, exist_ok=True)
        fresh = self._path / f"{pointer}.{os.getpid()}.new"
        with fresh.open("w", encoding="utf-8") as file:
            file.write(name)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path / pointer)
        folder = os.open(self._path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def map_errors() -> Iterator[None]:
    """Turn errors of tantivy into TransientError; into DamagedIndexError where only rebuilding helps."""
    try:
        yield
    # A damaged file makes tantivy panic, and its PanicException is not an Exception.
    except BaseException as error:
        if not isinstance(error, ValueError | OSError) and type(error).__name__ != "PanicException":
            raise
        if "LockBusy" in str(error):
            raise TransientError("Another process is writing the search index; this one waits for its turn.") from error
        if _is_disk_trouble(error):
            raise TransientError(f"The search index cannot be used: {error}. Look at its disk and folder.") from error
        raise DamagedIndexError(f"The search index cannot be read: {error}. {REPAIR}") from error


def _is_disk_trouble(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in _DISK_TROUBLES:
        return True
    # tantivy passes on what the operating system said as text.
    return any(words in str(error).lower() for words in _TROUBLES_IN_WORDS)
