"""When people want to be left in peace."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "quiet_hours",
        sa.Column("user_id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("begins", sa.Time, nullable=False),
        sa.Column("ends", sa.Time, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_quiet_hours"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_quiet_hours_user_id_users", ondelete="CASCADE"
        ),
        schema="core",
    )


def downgrade() -> None:
    op.drop_table("quiet_hours", schema="core")
