"""What was known of a fixture when, and how its sides are called: for people who want to know its score later."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

FACTS = (
    "status",
    "elapsed",
    "extra",
    "home_goals",
    "away_goals",
    "home_penalties",
    "away_penalties",
    "winner_id",
)


SUBJECT = "'footy.fixture.' || NEW.id"


def _names(side: str, row: str = "NEW") -> str:
    """The name of a side and all that it is called."""
    aliases = f"(SELECT aliases FROM footy.team_aliases WHERE team_id = {row}.{side}_id)"  # noqa: S608
    return f"{row}.{side}_name || coalesce({aliases}, ARRAY[]::text[])"


def upgrade() -> None:
    op.create_table(
        "fixture_states",
        sa.Column("fixture_id", sa.BigInteger, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        *(sa.Column(name, sa.Integer, nullable=True) for name in FACTS if name != "status"),
        sa.PrimaryKeyConstraint("fixture_id", "at", name="pk_fixture_states"),
        sa.ForeignKeyConstraint(
            ["fixture_id"], ["footy.fixtures.id"], name="fk_fixture_states_fixture_id_fixtures", ondelete="CASCADE"
        ),
        schema="footy",
    )
    op.create_table(
        "spoiler_subjects",
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("home", postgresql.ARRAY(sa.Text), nullable=False),
        sa.Column("away", postgresql.ARRAY(sa.Text), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("subject", name="pk_spoiler_subjects"),
        schema="core",
    )
    names = ", ".join(FACTS)
    new = ", ".join(f"NEW.{name}" for name in FACTS)
    old = ", ".join(f"OLD.{name}" for name in FACTS)
    written = ", ".join(f"{name} = excluded.{name}" for name in FACTS)
    # Four statements write fixtures; none of them can forget this one.
    op.execute(f"""
        CREATE FUNCTION footy.keep_fixture_state() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO footy.fixture_states (fixture_id, at, {names}) VALUES (NEW.id, NEW.changed_at, {new})
            ON CONFLICT (fixture_id, at) DO UPDATE SET {written};
            IF NEW.kickoff < now() THEN
                INSERT INTO core.spoiler_subjects (subject, home, away, changed_at)
                VALUES ({SUBJECT}, {_names("home")}, {_names("away")}, NEW.changed_at)
                ON CONFLICT (subject) DO UPDATE
                SET home = excluded.home, away = excluded.away, changed_at = excluded.changed_at;
            END IF;
            RETURN NULL;
        END $$
    """)  # noqa: S608
    op.execute("""
        CREATE FUNCTION footy.forget_fixture_subject() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM core.spoiler_subjects WHERE subject = 'footy.fixture.' || OLD.id;
            RETURN NULL;
        END $$
    """)
    op.execute("""
        CREATE TRIGGER forget_subject AFTER DELETE ON footy.fixtures
        FOR EACH ROW EXECUTE FUNCTION footy.forget_fixture_subject()
    """)
    op.execute("""
        CREATE TRIGGER keep_first_state AFTER INSERT ON footy.fixtures
        FOR EACH ROW EXECUTE FUNCTION footy.keep_fixture_state()
    """)
    op.execute(f"""
        CREATE TRIGGER keep_next_state AFTER UPDATE ON footy.fixtures
        FOR EACH ROW WHEN (({old}) IS DISTINCT FROM ({new})) EXECUTE FUNCTION footy.keep_fixture_state()
    """)
    op.execute(f"""
        INSERT INTO footy.fixture_states (fixture_id, at, {names})
        SELECT id, changed_at, {names} FROM footy.fixtures
    """)  # noqa: S608
    op.execute(f"""
        INSERT INTO core.spoiler_subjects (subject, home, away, changed_at)
        SELECT 'footy.fixture.' || fixture.id, {_names("home", "fixture")}, {_names("away", "fixture")},
               fixture.changed_at
        FROM footy.fixtures AS fixture WHERE fixture.kickoff < now()
    """)  # noqa: S608


def downgrade() -> None:
    op.execute("DROP TRIGGER keep_next_state ON footy.fixtures")
    op.execute("DROP TRIGGER keep_first_state ON footy.fixtures")
    op.execute("DROP TRIGGER forget_subject ON footy.fixtures")
    op.execute("DROP FUNCTION footy.keep_fixture_state()")
    op.execute("DROP FUNCTION footy.forget_fixture_subject()")
    op.drop_table("fixture_states", schema="footy")
    op.drop_table("spoiler_subjects", schema="core")
