"""The tables of the graph. A generation is one graph: while another is built aside, readers keep the current one."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Text, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.curator.library.rows import SCHEMA


class GraphGenerationRow(Base):
    """One is current. Another may be built aside; one that was replaced is old until it is removed."""

    __tablename__ = "graph_generations"
    __table_args__ = (
        CheckConstraint("state IN ('building', 'current', 'old')", name="state"),
        Index("uq_graph_generations_current", "state", unique=True, postgresql_where=text("state = 'current'")),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    state: Mapped[str] = mapped_column(Text)
    begun_at: Mapped[datetime] = mapped_column(server_default=func.now())


class GraphNodeRow(Base):
    """An entity. `key` is its name as compared: one spelling for all. Name and kind are what most entries say."""

    __tablename__ = "graph_nodes"
    __table_args__ = (UniqueConstraint("generation_id", "key"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    generation_id: Mapped[int] = mapped_column(ForeignKey("curator.graph_generations.id", ondelete="CASCADE"))
    key: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text, server_default="")


class GraphEdgeRow(Base):
    """One entity's relation to another."""

    __tablename__ = "graph_edges"
    __table_args__ = (UniqueConstraint("source_id", "target_id", "relation"), Index(None, "target_id"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    generation_id: Mapped[int] = mapped_column(
        ForeignKey("curator.graph_generations.id", ondelete="CASCADE"), index=True
    )
    source_id: Mapped[int] = mapped_column(ForeignKey("curator.graph_nodes.id", ondelete="CASCADE"))
    target_id: Mapped[int] = mapped_column(ForeignKey("curator.graph_nodes.id", ondelete="CASCADE"))
    relation: Mapped[str] = mapped_column(Text)


class GraphEvidenceRow(Base):
    """Which entry says so, of a node or of an edge. Without any evidence left a node or edge is nobody's knowledge."""

    __tablename__ = "graph_evidence"
    __table_args__ = (
        CheckConstraint("(node_id IS NULL) <> (edge_id IS NULL)", name="node_or_edge"),
        UniqueConstraint("node_id", "entry_id"),
        UniqueConstraint("edge_id", "entry_id"),
        Index(None, "entry_id"),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    node_id: Mapped[int | None] = mapped_column(ForeignKey("curator.graph_nodes.id", ondelete="CASCADE"))
    edge_id: Mapped[int | None] = mapped_column(ForeignKey("curator.graph_edges.id", ondelete="CASCADE"))
    entry_id: Mapped[int] = mapped_column(ForeignKey("curator.entries.id", ondelete="CASCADE"))
    quote: Mapped[str] = mapped_column(Text, server_default="")
    # Of a node: how this entry calls and describes it.
    name: Mapped[str] = mapped_column(Text, server_default="")
    kind: Mapped[str] = mapped_column(Text, server_default="")
    description: Mapped[str] = mapped_column(Text, server_default="")
