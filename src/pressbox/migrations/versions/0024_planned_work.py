"""Events that wait for their time are planned, no longer running."""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "UPDATE core.workflow_progress SET state = 'planned'"
        " WHERE workflow_type = 'EventWorkflow' AND state = 'running'"
    )


def downgrade() -> None:
    op.execute("UPDATE core.workflow_progress SET state = 'running' WHERE state = 'planned'")
    op.execute("UPDATE core.workflow_progress SET state = 'completed' WHERE state = 'incomplete'")
