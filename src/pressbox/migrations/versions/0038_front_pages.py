"""How people arrange their first page; and indexes by which the search finds things while somebody types."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

# Marks between words, the same as in `core/db/words.py`.
_MARKS = ".,;:/\\@-_'’\"()[]&|!?*+#<>=~^%$–—"

# By schema, table and name: the words of these.
_INDEXES = (
    ("footy", "fixtures", "home_name, away_name"),
    ("footy", "goals", "player_name"),
    ("footy", "directory", "words, country"),
    ("footy", "team_aliases", "name, core.join_texts(aliases)"),
    ("soonish", "events", "name, location, description"),
    ("core", "notices", "heading, title, detail"),
)


def upgrade() -> None:
    marks, blanks = _MARKS.replace("'", "''"), " " * len(_MARKS)
    # Words are cut at every mark before PostgreSQL's own parser sees them: it takes “A.S” for the name of a host.
    op.execute(f"""
        CREATE FUNCTION core.search_words(words text) RETURNS tsvector
        LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN to_tsvector('pg_catalog.simple'::regconfig, translate(
            lower(regexp_replace(normalize(words, NFD), U&'[\\0300-\\036f]', '', 'g')), '{marks}', '{blanks}'))
    """)
    for number in (2, 3):
        names = [f"part_{place}" for place in range(number)]
        taken, joined = ", ".join(f"{name} text" for name in names), " || ' ' || ".join(names)
        op.execute(f"""
            CREATE FUNCTION core.search_words({taken}) RETURNS tsvector
            LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN core.search_words({joined})
        """)
    op.execute("""
        CREATE FUNCTION core.join_texts(texts text[]) RETURNS text
        LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN array_to_string(texts, ' ')
    """)
    for schema, table, words in _INDEXES:
        op.create_index(
            f"ix_{table}_words", table, [sa.text(f"core.search_words({words})")], schema=schema, postgresql_using="gin"
        )
    # The next events of somebody: those that have not begun, and long ones that are not over.
    op.create_index(
        "ix_events_end_date", "events", ["end_date"], schema="soonish", postgresql_where=sa.text("end_date IS NOT NULL")
    )
    none = sa.text("'{}'::text[]")
    op.create_table(
        "front_pages",
        sa.Column("user_id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("sections", postgresql.ARRAY(sa.Text), nullable=False, server_default=none),
        sa.Column("hidden", postgresql.ARRAY(sa.Text), nullable=False, server_default=none),
        sa.PrimaryKeyConstraint("user_id", name="pk_front_pages"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core.users.id"], name="fk_front_pages_user_id_users", ondelete="CASCADE"
        ),
        schema="core",
    )


def downgrade() -> None:
    op.drop_table("front_pages", schema="core")
    op.drop_index("ix_events_end_date", "events", schema="soonish")
    for schema, table, _ in _INDEXES:
        op.drop_index(f"ix_{table}_words", table, schema=schema)
    op.execute("DROP FUNCTION core.join_texts(text[])")
    for taken in ("text, text, text", "text, text", "text"):
        op.execute(f"DROP FUNCTION core.search_words({taken})")
