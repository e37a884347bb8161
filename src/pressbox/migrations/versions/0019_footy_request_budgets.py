"""What is known of the requests that a service allows, shared by all processes."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "request_budgets",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", postgresql.JSONB, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_request_budgets"),
        schema="footy",
    )


def downgrade() -> None:
    op.drop_table("request_budgets", schema="footy")
