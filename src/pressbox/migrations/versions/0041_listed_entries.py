"""Indexes by which lists and streams of apps find their entries without opening rows that hold texts."""

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _index("ix_entries_listed", ["published_at", "id"], ["feed_id", "story_id"])
    _index("ix_entries_arrived", ["id"], ["feed_id", "first_seen_at"])


def downgrade() -> None:
    for name in ("ix_entries_listed", "ix_entries_arrived"):
        op.drop_index(name, "entries", schema="curator")


def _index(name: str, columns: list[str], beside: list[str]) -> None:
    op.create_index(name, "entries", columns, schema="curator", postgresql_include=beside)
