"""The search index in tables, for installations of several machines (PRESSBOX_CURATOR_INDEX=postgres)."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "search_generations",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("in_use", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_search_generations"),
        schema="curator",
    )
    op.create_index(
        "uq_search_generations_in_use",
        "search_generations",
        ["in_use"],
        unique=True,
        schema="curator",
        postgresql_where=sa.text("in_use"),
    )
    op.create_table(
        "search_documents",
        sa.Column("generation", sa.Text, nullable=False),
        sa.Column("entry_id", sa.BigInteger, nullable=False),
        sa.Column("feed_id", sa.BigInteger, nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("heading", TSVECTOR, nullable=False),
        sa.Column("words", TSVECTOR, nullable=False),
        sa.PrimaryKeyConstraint("generation", "entry_id", name="pk_search_documents"),
        schema="curator",
    )
    op.create_index(
        "ix_search_documents_words",
        "search_documents",
        ["words"],
        schema="curator",
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
    )
    op.create_table(
        "search_terms",
        sa.Column("term", sa.Text(collation="C"), nullable=False),
        sa.PrimaryKeyConstraint("term", name="pk_search_terms"),
        schema="curator",
    )


def downgrade() -> None:
    op.drop_table("search_terms", schema="curator")
    op.drop_table("search_documents", schema="curator")
    op.drop_table("search_generations", schema="curator")
