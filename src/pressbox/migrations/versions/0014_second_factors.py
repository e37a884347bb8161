"""Second factors, passkeys, people of OpenID providers and proxies, and sign-ins that are not finished."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.text("now()")
_TABLES = ("ceremonies", "external_identities", "passkeys", "recovery_codes", "authenticator_apps")


def upgrade() -> None:
    # How a session began: those of a provider or a proxy need no second factor of ours.
    op.add_column("sessions", sa.Column("proof", sa.Text, server_default="password", nullable=False), schema="core")
    op.create_table(
        "authenticator_apps",
        _user(primary_key=True),
        sa.Column("sealed_secret", sa.LargeBinary, nullable=False),
        sa.Column("last_step", sa.BigInteger, server_default="0", nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("confirmed_at", _TIME),
        schema="core",
    )
    op.create_table(
        "recovery_codes",
        _user(primary_key=True),
        sa.Column("code_hash", sa.LargeBinary, primary_key=True),
        sa.Column("used_at", _TIME),
        schema="core",
    )
    op.create_table(
        "passkeys",
        sa.Column("id", sa.BigInteger, primary_key=True),
        _user(),
        sa.Column("user_handle", sa.LargeBinary, nullable=False),
        sa.Column("credential_id", sa.LargeBinary, unique=True, nullable=False),
        sa.Column("public_key", sa.LargeBinary, nullable=False),
        sa.Column("sign_count", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("last_used_at", _TIME),
        schema="core",
    )
    op.create_table(
        "external_identities",
        sa.Column("provider", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, primary_key=True),
        _user(),
        sa.Column("created_at", _TIME, server_default=_NOW, nullable=False),
        sa.Column("last_used_at", _TIME),
        schema="core",
    )
    op.create_table(
        "ceremonies",
        sa.Column("token_hash", sa.LargeBinary, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        _user(nullable=True),
        sa.Column("detail", postgresql.JSONB, server_default=sa.text("'{}'"), nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
        schema="core",
    )
    for table in ("passkeys", "external_identities"):
        op.create_index(f"ix_{table}_user_id", table, ["user_id"], schema="core")
    op.create_index("ix_ceremonies_expires_at", "ceremonies", ["expires_at"], schema="core")


def downgrade() -> None:
    for table in _TABLES:
        op.drop_table(table, schema="core")
    op.drop_column("sessions", "proof", schema="core")


def _user(*, primary_key: bool = False, nullable: bool = False) -> sa.Column[int]:
    of_users = sa.ForeignKey("core.users.id", ondelete="CASCADE")
    return sa.Column("user_id", sa.BigInteger, of_users, primary_key=primary_key, nullable=nullable)
