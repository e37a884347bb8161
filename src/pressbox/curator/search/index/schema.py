"""The schema of the search index, and the document of an entry.

Words are indexed as terms between spaces, made by `text.words`; the texts that hits show are stored beside them.
tantivy is imported where it is used: only searching and indexing pay for it.
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pressbox.curator.search.ports import IndexDocument
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

# Nobody reads further, and no index needs more.
LONGEST_TEXT = 200_000


@dataclass(frozen=True)
class StoredText:
    """The texts that a hit shows, with the words of the query highlighted."""

    title: str
    summary: str
    content: str
    feed_content: str


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

    shown = _text_to_store(entry)
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


def _text_to_store(entry: IndexDocument) -> StoredText:
    return StoredText(
        title=compose(entry.title),
        summary=compose(entry.summary),
        content=compose(entry.filtered_content[:LONGEST_TEXT]),
        feed_content=compose(entry.feed_content[:LONGEST_TEXT]),
    )


def read_stored(stored: bytes) -> StoredText:
    title, summary, content, feed_content = json.loads(stored)
    return StoredText(title, summary, content, feed_content)
