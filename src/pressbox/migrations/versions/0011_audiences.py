"""Who may read of work: the audience of each progress row.

Rows of which it is known for certain get the audience that they would declare today; all others have none, and only
administrators see that they exist.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TABLE = "workflow_progress"
_FOR_EVERYONE = (
    "AllFeedsIngestionWorkflow",
    "DownloadWorkflow",
    "IngestWorkflow",
    "MonitorWorkflow",
    "RAGWorkflow",
    "TwitterWorkflow",
    "UpkeepWorkflow",
    "UploadWorkflow",
)
_HOSTS_ONLY = r"regexp_replace({0}, '[a-zA-Z][a-zA-Z0-9+.-]*://([^/\s@\"]*@)?([^/\s?#:\"]*)[^\s\"]*', '\2', 'g')"


def upgrade() -> None:
    op.add_column(_TABLE, sa.Column("audience", sa.Text), schema="core")
    op.add_column(_TABLE, sa.Column("audience_id", sa.BigInteger), schema="core")
    rows = sa.table(_TABLE, *(sa.column(name) for name in ("workflow_type", "audience")), schema="core")
    op.execute(rows.update().where(rows.c.workflow_type.in_(_FOR_EVERYONE)).values(audience="everyone"))
    op.execute(
        r"""
        UPDATE core.workflow_progress SET audience = 'curator.feed', audience_id = (detail ->> 'feed_id')::bigint
        WHERE workflow_type = 'SingleFeedIngestionWorkflow' AND detail ->> 'feed_id' ~ '^\d{1,18}$'
        """
    )
    op.execute(
        r"""
        UPDATE core.workflow_progress
        SET audience = 'soonish.event', audience_id = substring(workflow_id from 7)::bigint
        WHERE workflow_type = 'EventWorkflow' AND workflow_id ~ '^event-\d{1,18}$'
        """
    )
    columns = ", ".join(f"{name} = {_HOSTS_ONLY.format(name)}" for name in ("title", "message", "error"))
    op.execute(f"UPDATE core.workflow_progress SET {columns} WHERE title || message || error LIKE '%://%'")  # noqa: S608


def downgrade() -> None:
    op.drop_column(_TABLE, "audience_id", schema="core")
    op.drop_column(_TABLE, "audience", schema="core")
