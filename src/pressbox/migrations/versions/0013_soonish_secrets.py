"""What was shown of addresses held hosts and topics: only the name of the service stays.

Strangers' mail addresses that went past our own mail server, and past a confirmation, get nothing more.
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("UPDATE soonish.channels SET kind = split_part(kind, ' · ', 1)")
    op.execute("UPDATE soonish.contacts SET shown = split_part(shown, ' · ', 1) WHERE kind <> 'email'")
    op.execute(
        "UPDATE soonish.deliveries SET reason = 'Its address is not on the public internet.'"
        " WHERE reason LIKE '%PRESSBOX_HTTP_ALLOW=%'"
    )
    op.execute(
        "UPDATE soonish.channels SET last_error = 'Its address is not on the public internet.'"
        " WHERE last_error LIKE '%PRESSBOX_HTTP_ALLOW=%'"
    )
    op.execute(
        "UPDATE soonish.subscriptions SET state = 'left', changed_at = now() FROM soonish.contacts"
        " WHERE contacts.id = subscriptions.contact_id AND contacts.kind IN ('mailto', 'mailtos', 'deltachat')"
    )


def downgrade() -> None:
    """What was removed was secret: it does not come back."""
