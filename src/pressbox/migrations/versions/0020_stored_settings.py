"""Settings that administrators set on pages, sealed."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "stored_settings",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("sealed_value", sa.LargeBinary, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_stored_settings"),
        schema="core",
    )


def downgrade() -> None:
    op.drop_table("stored_settings", schema="core")
