"""The tables of the curator. Feeds and entries exist once for everybody; what people did with them is theirs."""

from datetime import UTC, datetime
from typing import Any

from pgvector.sqlalchemy import Vector
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.base import Base

SCHEMA = {"schema": "curator"}
# The time at which the older entries of a feed that is new to a person are read: before anybody could read anything.
BACKLOG = datetime(1970, 1, 1, tzinfo=UTC)


class FeedRow(Base):
    __tablename__ = "feeds"
    __table_args__ = (SCHEMA,)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    url: Mapped[str] = mapped_column(Text, unique=True)
    site_url: Mapped[str] = mapped_column(Text, server_default="")
    title: Mapped[str] = mapped_column(Text, server_default="")
    description: Mapped[str] = mapped_column(Text, server_default="")
    language: Mapped[str] = mapped_column(Text, server_default="")
    icon_url: Mapped[str] = mapped_column(Text, server_default="")
    # Whether pages are fetched for the full text, and how the article is found on them.
    full_text: Mapped[bool] = mapped_column(Boolean, server_default="true")
    extraction_rules: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    # What people set; None lets it adapt.
    interval_seconds: Mapped[int | None] = mapped_column(Integer)
    entry_limit: Mapped[int | None] = mapped_column(Integer)
    paused_at: Mapped[datetime | None]
    # Where its readers went when it moved for good; what they kept or have not read yet stays here.
    moved_to_id: Mapped[int | None] = mapped_column(ForeignKey("curator.feeds.id", ondelete="SET NULL"))
    # Who crawls it now, until when; see `library/leases.py`.
    lease_owner: Mapped[str | None] = mapped_column(Text)
    lease_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class FeedStateRow(Base):
    """What the crawls of a feed came to, and when the next one is."""

    __tablename__ = "feed_state"
    __table_args__ = (Index(None, "next_crawl_at"), SCHEMA)

    feed_id: Mapped[int] = mapped_column(ForeignKey("curator.feeds.id", ondelete="CASCADE"), primary_key=True)
    etag: Mapped[str] = mapped_column(Text, server_default="")
    last_modified: Mapped[str] = mapped_column(Text, server_default="")
    content_hash: Mapped[str] = mapped_column(Text, server_default="")
    # None: not crawled any more (410) until somebody says so.
    next_crawl_at: Mapped[datetime | None]
    interval_seconds: Mapped[int] = mapped_column(Integer, server_default="3600")
    last_crawl_at: Mapped[datetime | None]
    last_success_at: Mapped[datetime | None]
    # When the whole feed last came, and not only the word that nothing changed.
    last_read_at: Mapped[datetime | None]
    # When it was read for the first time: what it had then is not news. None: before this was noted.
    first_read_at: Mapped[datetime | None]
    last_new_at: Mapped[datetime | None]
    outcome: Mapped[str] = mapped_column(Text, server_default="")
    failures: Mapped[int] = mapped_column(Integer, server_default="0")
    reason: Mapped[str] = mapped_column(Text, server_default="")
    status: Mapped[int | None] = mapped_column(Integer)


class FeedErrorRow(Base):
    """Every failure is kept for a while, so that "why does it not update?" has an answer."""

    __tablename__ = "feed_errors"
    __table_args__ = (Index(None, "feed_id", "at"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    feed_id: Mapped[int] = mapped_column(ForeignKey("curator.feeds.id", ondelete="CASCADE"))
    at: Mapped[datetime]
    outcome: Mapped[str] = mapped_column(Text)
    status: Mapped[int | None] = mapped_column(Integer)
    reason: Mapped[str] = mapped_column(Text)


class CategoryRow(Base):
    __tablename__ = "categories"
    __table_args__ = (UniqueConstraint("user_id", "name"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey(UserRow.id, ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(Text)
    position: Mapped[int] = mapped_column(Integer, server_default="0")


class SubscriptionRow(Base):
    """`unread` is kept by triggers of the tables that it depends on, not counted per page: never write it."""

    __tablename__ = "subscriptions"
    __table_args__ = (UniqueConstraint("user_id", "feed_id"), Index(None, "feed_id"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    feed_id: Mapped[int] = mapped_column(ForeignKey("curator.feeds.id", ondelete="CASCADE"))
    category_id: Mapped[int | None] = mapped_column(ForeignKey("curator.categories.id", ondelete="SET NULL"))
    title: Mapped[str] = mapped_column(Text, server_default="")
    unread: Mapped[int] = mapped_column(Integer, server_default="0")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class StoryRow(Base):
    """The same article in several feeds."""

    __tablename__ = "stories"
    __table_args__ = (SCHEMA,)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    canonical_url: Mapped[str] = mapped_column(Text, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class EntryRow(Base):
    """One entry of one feed. `published_at` is never empty: an undated entry has the time it was first seen."""

    __tablename__ = "entries"
    __table_args__ = (
        UniqueConstraint("feed_id", "guid"),
        Index(None, "feed_id", "published_at", "id"),
        Index(None, "published_at", "id"),
        # All that a list or a stream of an app looks at to find its entries, so that it need not open rows with texts.
        Index("ix_entries_listed", "published_at", "id", postgresql_include=["feed_id", "story_id"]),
        Index("ix_entries_arrived", "id", postgresql_include=["feed_id", "first_seen_at"]),
        Index(None, "story_id"),
        Index("ix_entries_to_fetch", "feed_id", postgresql_where=text("fetch_state = 'waiting'")),
        Index("ix_entries_to_distil", "id", postgresql_where=text("distil_state = 'waiting'")),
        Index("ix_entries_to_graph", "id", postgresql_where=text("graph_hash IS DISTINCT FROM content_hash")),
        Index("ix_entries_to_index", "id", postgresql_where=text("indexed_hash IS DISTINCT FROM shown_hash")),
        Index("ix_entries_to_embed", "id", postgresql_where=text("vector_hash IS DISTINCT FROM shown_hash")),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    feed_id: Mapped[int] = mapped_column(ForeignKey("curator.feeds.id", ondelete="CASCADE"))
    guid: Mapped[str] = mapped_column(Text)
    url: Mapped[str] = mapped_column(Text, server_default="")
    # Of its page: whose turn a fetch takes.
    host: Mapped[str] = mapped_column(Text, server_default="")
    canonical_url: Mapped[str] = mapped_column(Text, server_default="")
    story_id: Mapped[int | None] = mapped_column(ForeignKey("curator.stories.id", ondelete="SET NULL"))
    title: Mapped[str] = mapped_column(Text)
    author: Mapped[str] = mapped_column(Text, server_default="")
    language: Mapped[str] = mapped_column(Text, server_default="")
    published_at: Mapped[datetime]
    dated: Mapped[bool] = mapped_column(Boolean, server_default="true")
    first_seen_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    thumbnail_url: Mapped[str] = mapped_column(Text, server_default="")
    enclosures: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    summary: Mapped[str] = mapped_column(Text, server_default="")
    words: Mapped[int] = mapped_column(Integer, server_default="0")
    # Hash of the text that is to be read; of what a reader sees with its summary; of what is in the index.
    content_hash: Mapped[str] = mapped_column(Text, server_default="")
    shown_hash: Mapped[str] = mapped_column(Text, server_default="")
    indexed_hash: Mapped[str | None] = mapped_column(Text)
    # As `indexed_hash`, of the vector that the embedding model in use made.
    vector_hash: Mapped[str | None] = mapped_column(Text)
    feed_hash: Mapped[str] = mapped_column(Text, server_default="")
    fetch_state: Mapped[str] = mapped_column(Text)
    fetch_tries: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    fetch_reason: Mapped[str] = mapped_column(Text, server_default="")
    next_fetch_at: Mapped[datetime | None]
    # Who fetches or distils it now, until when, and how often somebody began and did not end.
    lease_owner: Mapped[str | None] = mapped_column(Text)
    lease_until: Mapped[datetime | None]
    lease_tries: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    distil_state: Mapped[str] = mapped_column(Text)
    distil_reason: Mapped[str] = mapped_column(Text, server_default="")
    distilled_hash: Mapped[str] = mapped_column(Text, server_default="")
    distil_model: Mapped[str] = mapped_column(Text, server_default="")
    # When the entry came into the graph, and by which text.
    graph_added_at: Mapped[datetime | None]
    graph_hash: Mapped[str | None] = mapped_column(Text)
    # The text that could not be added, and why: it is not tried again by itself.
    graph_failed_hash: Mapped[str | None] = mapped_column(Text)
    graph_reason: Mapped[str] = mapped_column(Text, server_default="")


class EntryBodyRow(Base):
    """HTML as the feed and as the page has it, sanitised, and the text for search and models.

    `filtered_content` is the whole text until a distiller found the lines that are the article; then `content_text`
    keeps the whole, so that line numbers always mean the same.
    """

    __tablename__ = "entry_bodies"
    __table_args__ = (SCHEMA,)

    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True)
    feed_content: Mapped[str] = mapped_column(Text, server_default="")
    full_content: Mapped[str] = mapped_column(Text, server_default="")
    filtered_content: Mapped[str] = mapped_column(Text, server_default="")
    content_text: Mapped[str] = mapped_column(Text, server_default="")


class EntryEmbeddingRow(Base):
    """A vector of one model. The column has no fixed size; each model has a partial HNSW index of its own."""

    __tablename__ = "entry_embeddings"
    __table_args__ = (SCHEMA,)

    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True)
    model: Mapped[str] = mapped_column(Text, primary_key=True)
    embedding: Mapped[list[float]] = mapped_column(Vector())
    # What was shown when the vector was made: another text gets another vector.
    shown_hash: Mapped[str] = mapped_column(Text)


class RemovedEntryRow(Base):
    """An entry that is gone and whose document may still be in the search index. A trigger writes it."""

    __tablename__ = "removed_entries"
    __table_args__ = (SCHEMA,)

    entry_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)


class SearchIndexRow(Base):
    """The search index that is in use, one row: a folder that holds another one is noticed."""

    __tablename__ = "search_index"
    __table_args__ = (CheckConstraint("id = 1", name="only_one"), SCHEMA)

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    generation: Mapped[str] = mapped_column(Text)
    commit_number: Mapped[int] = mapped_column(BigInteger)
    writing: Mapped[bool] = mapped_column(server_default=text("false"))
    complete: Mapped[bool] = mapped_column(server_default=text("true"))
    # When the writer last found it as it should be; null when somebody doubts it.
    verified_at: Mapped[datetime | None]


class SearchGenerationRow(Base):
    """A search index in tables: the one in use, and one that is being built beside it."""

    __tablename__ = "search_generations"
    __table_args__ = (
        Index("uq_search_generations_in_use", "in_use", unique=True, postgresql_where=text("in_use")),
        SCHEMA,
    )

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    in_use: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SearchTermRow(Base):
    """The dictionary of a search in tables, where words with a typo are looked up."""

    __tablename__ = "search_terms"
    __table_args__ = (SCHEMA,)

    # In the order of its bytes, so that words with a beginning stand side by side whatever the database's language.
    term: Mapped[str] = mapped_column(Text(collation="C"), primary_key=True)


class SearchDocumentRow(Base):
    """What a search in tables finds an entry by. It has no key to the entry: the index may lag behind."""

    __tablename__ = "search_documents"
    __table_args__ = (
        # At once and not from a list of what is new, which every search would have to read through.
        Index(None, "words", postgresql_using="gin", postgresql_with={"fastupdate": "off"}),
        SCHEMA,
    )

    generation: Mapped[str] = mapped_column(Text, primary_key=True)
    entry_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    feed_id: Mapped[int] = mapped_column(BigInteger)
    published_at: Mapped[datetime]
    heading: Mapped[str] = mapped_column(TSVECTOR)
    words: Mapped[str] = mapped_column(TSVECTOR)


class SeenGuidRow(Base):
    """What was cleaned up and must not come back unread."""

    __tablename__ = "seen_guids"
    __table_args__ = (SCHEMA,)

    feed_id: Mapped[int] = mapped_column(ForeignKey("curator.feeds.id", ondelete="CASCADE"), primary_key=True)
    guid: Mapped[str] = mapped_column(Text, primary_key=True)
    removed_at: Mapped[datetime] = mapped_column(server_default=func.now())


class EntryStateRow(Base):
    """What one person did with one entry. No row: unread, nothing done.

    `read_at` is BACKLOG for what the person never read, but is not unread either.
    """

    __tablename__ = "entry_states"
    __table_args__ = (
        CheckConstraint("preference IN (-1, 0, 1)", name="preference"),
        Index("ix_entry_states_starred", "user_id", "entry_id", postgresql_where=text("starred_at IS NOT NULL")),
        Index("ix_entry_states_up", "user_id", "entry_id", postgresql_where=text("preference = 1")),
        # What was read in an open view, or by one "all read".
        Index("ix_entry_states_read", "user_id", "read_at", postgresql_where=text("read_at IS NOT NULL")),
        Index(None, "entry_id"),
        SCHEMA,
    )

    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True)
    read_at: Mapped[datetime | None]
    starred_at: Mapped[datetime | None]
    preference: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    note: Mapped[str] = mapped_column(Text, server_default="")


class LabelRow(Base):
    __tablename__ = "labels"
    __table_args__ = (UniqueConstraint("user_id", "name"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(Text)


class EntryLabelRow(Base):
    __tablename__ = "entry_labels"
    __table_args__ = (Index(None, "entry_id"), SCHEMA)

    label_id: Mapped[int] = mapped_column(ForeignKey("curator.labels.id", ondelete="CASCADE"), primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"), primary_key=True)


class HostTurnRow(Base):
    """When a host may be asked next, for the whole instance; until `busy_until` a page of it is being fetched."""

    __tablename__ = "host_turns"
    __table_args__ = (SCHEMA,)

    host: Mapped[str] = mapped_column(Text, primary_key=True)
    next_at: Mapped[datetime]
    busy_until: Mapped[datetime | None]


class OfflineMarkRow(Base):
    """A mark that a phone made without network and sent later: the same one, sent again, changes nothing."""

    __tablename__ = "offline_marks"
    __table_args__ = (SCHEMA,)

    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    received_at: Mapped[datetime] = mapped_column(server_default=func.now())
