"""Which search index the database knows: a folder that was lost, restored or mixed up is noticed."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "search_index",
        sa.Column("id", sa.SmallInteger, autoincrement=False, nullable=False),
        sa.Column("generation", sa.Text, nullable=False),
        sa.Column("commit_number", sa.BigInteger, nullable=False),
        sa.Column("writing", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("complete", sa.Boolean, nullable=False, server_default=sa.text("true")),
        sa.Column("verified_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_search_index"),
        sa.CheckConstraint("id = 1", name="ck_search_index_only_one"),
        schema="curator",
    )
    # Where entries were indexed, there is an index; which one, nobody wrote down. The first check adopts what it finds.
    op.execute("""
        INSERT INTO curator.search_index (id, generation, commit_number)
        SELECT 1, '', 0 WHERE EXISTS (SELECT 1 FROM curator.entries WHERE indexed_hash IS NOT NULL)
    """)


def downgrade() -> None:
    op.drop_table("search_index", schema="curator")
