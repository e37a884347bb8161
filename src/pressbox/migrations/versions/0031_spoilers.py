"""Who wants scores hidden or later, and what spoilers said when."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "spoiler_choices",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("mode", sa.Text, nullable=False),
        sa.Column("minutes", sa.Integer, nullable=True),
        sa.PrimaryKeyConstraint("user_id", name="pk_spoiler_choices"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_spoiler_choices_user_id_users", ondelete="CASCADE"
        ),
        schema="core",
    )
    op.create_table(
        "spoiler_reveals",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("revealed_at", moment, nullable=False, server_default=sa.text("now()")),
        sa.PrimaryKeyConstraint("user_id", "subject", name="pk_spoiler_reveals"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_spoiler_reveals_user_id_users", ondelete="CASCADE"
        ),
        schema="core",
    )
    for column in (
        sa.Column("spoiler", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("covered_title", sa.Text, nullable=False, server_default=""),
        sa.Column("covered_detail", sa.Text, nullable=False, server_default=""),
        sa.Column("covered_version", sa.Integer, nullable=False, server_default="1"),
    ):
        op.add_column("notices", column, schema="core")
    op.create_index("ix_notices_subject", "notices", ["subject"], schema="core")
    op.create_table(
        "notice_versions",
        sa.Column("notice_id", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("picture", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("changed_at", moment, nullable=False),
        sa.PrimaryKeyConstraint("notice_id", "version", name="pk_notice_versions"),
        sa.ForeignKeyConstraint(
            ["notice_id"], ["core.notices.id"], name="fk_notice_versions_notice_id_notices", ondelete="CASCADE"
        ),
        schema="core",
    )
    op.add_column(
        "inbox", sa.Column("visible_at", moment, nullable=True, server_default=sa.text("now()")), schema="core"
    )
    op.add_column("inbox", sa.Column("unread_at", moment, nullable=True), schema="core")
    op.create_index(
        "ix_inbox_unread_again",
        "inbox",
        ["user_id"],
        schema="core",
        postgresql_where=sa.text("unread_at IS NOT NULL"),
    )
    # What was told before is visible since then. Goals were the only notices that told a score.
    op.execute("UPDATE core.inbox SET visible_at = arrived_at")
    op.execute("""
        UPDATE core.notices SET spoiler = true, covered_title = 'A goal in ' || heading
        WHERE application = 'footy' AND kind = 'goal'
    """)
    op.execute("""
        INSERT INTO core.notice_versions (notice_id, version, title, detail, path, picture, state, changed_at)
        SELECT id, version, title, detail, path, picture, state, changed_at FROM core.notices WHERE spoiler
    """)


def downgrade() -> None:
    for column in ("unread_at", "visible_at"):
        op.drop_column("inbox", column, schema="core")
    op.drop_index("ix_notices_subject", table_name="notices", schema="core")
    for column in ("covered_version", "covered_detail", "covered_title", "spoiler"):
        op.drop_column("notices", column, schema="core")
    for table in ("notice_versions", "spoiler_reveals", "spoiler_choices"):
        op.drop_table(table, schema="core")
