"""What stands in the search index for one entry.

The words are indexed as terms between blanks, made by `domain.words`; what is shown is stored once, apart from them.
tantivy is imported where it is used: only searching and indexing pay for it.
"""

import json
import re
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

from pressbox.curator.domain.words import composed, index_terms
from pressbox.curator.ports.storage import IndexDocument

if TYPE_CHECKING:
    import tantivy

# Part of every generation's name: an index of another version is not opened but rebuilt.
SCHEMA_VERSION = "1"

ID, FEED, PUBLISHED, SHOWN = "id", "feedId", "publishedAt", "shown"
TITLE, SUMMARY, CONTENT, FEED_CONTENT, AUTHOR = "title", "summary", "filteredContent", "feedContent", "author"
TEXT_FIELDS = (TITLE, SUMMARY, CONTENT, FEED_CONTENT, AUTHOR)

# Beyond this no reader finds the passage, and no index needs it.
LONGEST_TEXT = 200_000

_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Shown:
    """What a hit shows, with the words of the query marked in it."""

    title: str
    summary: str
    content: str
    feed_content: str


def schema() -> "tantivy.Schema":
    import tantivy

    builder = tantivy.SchemaBuilder()
    # Signed on purpose: deleting by a term of an unsigned field deletes nothing and says nothing.
    builder.add_integer_field(ID, stored=True, indexed=True, fast=True)
    builder.add_integer_field(FEED, indexed=True, fast=True)
    builder.add_integer_field(PUBLISHED, indexed=True, fast=True)
    for name in TEXT_FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    builder.add_bytes_field(SHOWN, stored=True)
    return builder.build()


def to_tantivy(entry: IndexDocument) -> "tantivy.Document":
    import tantivy

    shown = shown_of(entry)
    document = tantivy.Document()
    document.add_integer(ID, entry.entry_id)
    document.add_integer(FEED, entry.feed_id)
    document.add_integer(PUBLISHED, round(entry.published_at.timestamp() * 1000))
    document.add_text(AUTHOR, index_terms(composed(entry.author)))
    document.add_text(TITLE, index_terms(shown.title))
    document.add_text(SUMMARY, index_terms(shown.summary))
    content, feed_content = index_terms(shown.content), index_terms(shown.feed_content)
    document.add_text(CONTENT, content)
    adds = not set(feed_content.split()) <= set(content.split())
    if adds:
        document.add_text(FEED_CONTENT, feed_content)
    stored = (shown.title, shown.summary, shown.content, shown.feed_content if adds else "")
    document.add_bytes(SHOWN, json.dumps(stored, ensure_ascii=False).encode("utf-8", "replace"))
    return document


def shown_of(entry: IndexDocument) -> Shown:
    return Shown(
        title=composed(entry.title),
        summary=composed(entry.summary),
        content=composed(entry.filtered_content[:LONGEST_TEXT]),
        feed_content=composed(_text_of(entry.feed_content[:LONGEST_TEXT])),
    )


def shown_from(stored: bytes) -> Shown:
    title, summary, content, feed_content = json.loads(stored)
    return Shown(title, summary, content, feed_content)


def _text_of(html: str) -> str:
    """The text of sanitised HTML, in which every bracket is a tag's."""
    return unescape(_TAG.sub(" ", html)) if "<" in html or "&" in html else html
