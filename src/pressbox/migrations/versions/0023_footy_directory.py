"""Names of leagues and teams that outlive their fixtures, and the searches that API-Football has answered."""

import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "directory",
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("country", sa.Text, server_default="", nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("kind", "id", name="pk_directory"),
        sa.CheckConstraint("kind IN ('league', 'team')", name="ck_directory_kind"),
        schema="footy",
    )
    op.create_table(
        "directory_searches",
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("text", name="pk_directory_searches"),
        schema="footy",
    )
    _take_over_names()


def downgrade() -> None:
    op.drop_table("directory_searches", schema="footy")
    op.drop_table("directory", schema="footy")


def _take_over_names() -> None:
    """What fixtures call them counts before what somebody typed with an id."""
    connection = op.get_bind()
    known = connection.execute(
        sa.text(
            """
            SELECT DISTINCT ON (kind, id) kind, id, name, country FROM (
                SELECT 'league' AS kind, league_id AS id, max(league_name) AS name, max(country) AS country, 1 AS place
                FROM footy.fixtures GROUP BY league_id
                UNION ALL SELECT 'team', team_id, name, country, 1 FROM footy.team_aliases
                UNION ALL SELECT kind, id, name, '', 2 FROM footy.follows
            ) AS names WHERE name <> '' ORDER BY kind, id, place
            """
        )
    )
    rows = [{**row, "words": _plain_words(row["name"])} for row in known.mappings()]
    if rows:
        connection.execute(
            sa.text(
                "INSERT INTO footy.directory (kind, id, name, country, words)"
                " VALUES (:kind, :id, :name, :country, :words)"
            ),
            rows,
        )


def _plain_words(name: str) -> str:
    """As the program of this revision folds names; the next fixture writes it anew."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return " ".join("".join(char if char.isalnum() else " " for char in plain.casefold()).split())
