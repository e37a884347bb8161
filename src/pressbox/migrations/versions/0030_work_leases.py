"""Leases on feeds and entries, so that rows are the queue; hosts that are being asked; which vectors are missing."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_LEASE = (("lease_owner", sa.Text), ("lease_until", sa.DateTime(timezone=True)))


def upgrade() -> None:
    for table in ("feeds", "entries"):
        for name, kind in _LEASE:
            op.add_column(table, sa.Column(name, kind), schema="curator")
    op.add_column(
        "entries", sa.Column("lease_tries", sa.SmallInteger, server_default="0", nullable=False), schema="curator"
    )
    op.add_column("entries", sa.Column("host", sa.Text, server_default="", nullable=False), schema="curator")
    op.add_column("entries", sa.Column("vector_hash", sa.Text), schema="curator")
    op.add_column("host_turns", sa.Column("busy_until", sa.DateTime(timezone=True)), schema="curator")
    # As `host_of` does, for what waits now; a name that comes out otherwise only has a turn of its own.
    op.execute("""
        UPDATE curator.entries SET host = regexp_replace(
            lower(substring(url FROM '^[a-zA-Z]+://(?:[^/?#@]*@)?([^/?#]*)')), '[:](80|443)$', '')
        WHERE fetch_state = 'waiting' AND url ~ '^[a-zA-Z]+://[^/]'
    """)
    # Only where every model has its vector: whichever is in use, none is missing.
    op.execute("""
        UPDATE curator.entries AS e SET vector_hash = e.shown_hash
        FROM (SELECT entry_id, count(*) AS models, min(shown_hash) AS low, max(shown_hash) AS high
              FROM curator.entry_embeddings GROUP BY entry_id) AS v
        WHERE v.entry_id = e.id AND v.low = e.shown_hash AND v.high = e.shown_hash
            AND v.models = (SELECT count(DISTINCT model) FROM curator.entry_embeddings)
    """)
    op.create_index(
        "ix_entries_to_embed",
        "entries",
        ["id"],
        schema="curator",
        postgresql_where=sa.text("vector_hash IS DISTINCT FROM shown_hash"),
    )


def downgrade() -> None:
    op.drop_index("ix_entries_to_embed", table_name="entries", schema="curator")
    op.drop_column("host_turns", "busy_until", schema="curator")
    for name in ("vector_hash", "host", "lease_tries"):
        op.drop_column("entries", name, schema="curator")
    for table in ("feeds", "entries"):
        for name, _ in _LEASE:
            op.drop_column(table, name, schema="curator")
