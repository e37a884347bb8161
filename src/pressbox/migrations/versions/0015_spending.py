"""One ledger of paid requests for all applications: the curator's calls and reservations become its rows."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_WORK = ["content_hash", "prompt_version", "model", "feature"]

# A summary was stored as it was read; now answers are stored as they were given.
_ANSWERS_AS_GIVEN = """
    UPDATE core.paid_requests
    SET answer = jsonb_build_object('articles', jsonb_build_array(jsonb_build_object(
        'article', 1,
        'main_content_start_line', (answer::jsonb)->'start',
        'main_content_end_line', (answer::jsonb)->'end',
        'summary', (answer::jsonb)->'summary')))::text
    WHERE feature = 'distil' AND usable
"""
_OUTCOMES = """
    UPDATE core.paid_requests
    SET outcome = CASE WHEN usable THEN 'answered' WHEN tokens_out > 0 THEN 'unusable' ELSE 'lost' END,
        weight = tokens_in + tokens_out
"""
_RESERVATIONS = """
    INSERT INTO core.paid_requests (content_hash, prompt_version, model, feature, item_id, source_id, outcome,
        tokens_in, tokens_out, weight, cost, at, until)
    SELECT content_hash, prompt_version, model, feature, entry_id, feed_id, 'running',
        tokens_in, tokens_out, tokens_in + tokens_out, cost, at, until
    FROM curator.model_reservations
"""
# Of several answers to the same work the old table can mark one as usable.
_ONE_USABLE = """
    UPDATE curator.model_calls call SET usable = outcome = 'answered' AND NOT EXISTS (
        SELECT FROM curator.model_calls other
        WHERE (other.content_hash, other.prompt_version, other.model, other.feature)
            = (call.content_hash, call.prompt_version, call.model, call.feature)
            AND other.outcome = 'answered' AND other.id > call.id)
"""
_ANSWERS_AS_READ = """
    UPDATE curator.model_calls
    SET answer = jsonb_build_object(
        'start', (answer::jsonb)#>'{articles,0,main_content_start_line}',
        'end', (answer::jsonb)#>'{articles,0,main_content_end_line}',
        'summary', (answer::jsonb)#>'{articles,0,summary}',
        'language', '')::text
    WHERE feature = 'distil' AND usable AND pg_input_is_valid(answer, 'jsonb')
"""


def upgrade() -> None:
    op.execute("ALTER TABLE curator.claims SET SCHEMA core")
    op.drop_index("uq_model_calls_work", "model_calls", schema="curator")
    _move_table("curator", "model_calls", "core", "paid_requests")
    op.alter_column("paid_requests", "entry_id", new_column_name="item_id", schema="core")
    op.alter_column("paid_requests", "feed_id", new_column_name="source_id", schema="core")
    op.alter_column("paid_requests", "answer", server_default="", schema="core")
    for column in (
        sa.Column("outcome", sa.Text, nullable=False, server_default="answered"),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("characters", sa.Integer, nullable=False, server_default="0"),
        sa.Column("posts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("weight", sa.Integer, nullable=False, server_default="0"),
        sa.Column("until", _TIME),
    ):
        op.add_column("paid_requests", column, schema="core")
    for statement in (_ANSWERS_AS_GIVEN, _OUTCOMES, _RESERVATIONS):
        op.execute(statement)
    op.drop_column("paid_requests", "usable", schema="core")
    op.alter_column("paid_requests", "outcome", server_default=None, schema="core")
    op.alter_column("paid_requests", "weight", server_default=None, schema="core")
    op.create_index("ix_paid_requests_work", "paid_requests", _WORK, schema="core")
    op.drop_table("model_reservations", schema="curator")


def downgrade() -> None:
    op.drop_index("ix_paid_requests_work", "paid_requests", schema="core")
    _move_table("core", "paid_requests", "curator", "model_calls")
    op.alter_column("model_calls", "item_id", new_column_name="entry_id", schema="curator")
    op.alter_column("model_calls", "source_id", new_column_name="feed_id", schema="curator")
    op.alter_column("model_calls", "answer", server_default=None, schema="curator")
    op.add_column(
        "model_calls", sa.Column("usable", sa.Boolean, nullable=False, server_default="true"), schema="curator"
    )
    op.execute(_ONE_USABLE)
    op.execute(_ANSWERS_AS_READ)
    for column in ("outcome", "reason", "characters", "posts", "weight", "until"):
        op.drop_column("model_calls", column, schema="curator")
    op.create_index(
        "uq_model_calls_work", "model_calls", _WORK, schema="curator", unique=True, postgresql_where=sa.text("usable")
    )
    op.execute("ALTER TABLE core.claims SET SCHEMA curator")
    op.create_table(
        "model_reservations",
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("prompt_version", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("feature", sa.Text, nullable=False),
        sa.Column("entry_id", sa.BigInteger),
        sa.Column("feed_id", sa.BigInteger),
        sa.Column("tokens_in", sa.Integer, nullable=False),
        sa.Column("tokens_out", sa.Integer, nullable=False),
        sa.Column("cost", sa.Float, nullable=False, server_default="0"),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("until", _TIME, nullable=False, index=True),
        schema="curator",
    )


def _move_table(schema: str, name: str, new_schema: str, new_name: str) -> None:
    """With the names of its key, its sequence and its index on time."""
    op.execute(f"ALTER TABLE {schema}.{name} SET SCHEMA {new_schema}")
    op.rename_table(name, new_name, schema=new_schema)
    op.execute(f"ALTER TABLE {new_schema}.{new_name} RENAME CONSTRAINT pk_{name} TO pk_{new_name}")
    op.execute(f"ALTER SEQUENCE {new_schema}.{name}_id_seq RENAME TO {new_name}_id_seq")
    op.execute(f"ALTER INDEX {new_schema}.ix_{name}_at RENAME TO ix_{new_name}_at")
