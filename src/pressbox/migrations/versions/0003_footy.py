"""Fixtures, goals with their registers, searches, candidates and clips; teams, follows and the health of sources."""

from datetime import datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_NOW = sa.text("now()")
_NO = sa.text("false")
_TABLES = (
    "source_health",
    "follows",
    "team_aliases",
    "clip_candidates",
    "clips",
    "clip_searches",
    "goal_runs",
    "goal_notes",
    "goals",
    "monitor_runs",
    "fixture_snapshots",
    "fetched_fixtures",
    "fixtures",
)


def upgrade() -> None:
    op.execute("CREATE SCHEMA IF NOT EXISTS footy")
    _create_fixtures()
    _create_goals()
    _create_clips()
    _create_names()


def downgrade() -> None:
    for table in _TABLES:
        op.drop_table(table, schema="footy")
    op.execute("DROP SCHEMA footy")


def _create_fixtures() -> None:
    op.create_table(
        "fixtures",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("kickoff", _TIME, nullable=False),
        sa.Column("league_id", sa.Integer, nullable=False),
        sa.Column("league_name", sa.Text, nullable=False),
        sa.Column("country", sa.Text, server_default="", nullable=False),
        sa.Column("round", sa.Text, server_default="", nullable=False),
        sa.Column("venue", sa.Text, server_default="", nullable=False),
        sa.Column("home_id", sa.Integer, nullable=False),
        sa.Column("home_name", sa.Text, nullable=False),
        sa.Column("away_id", sa.Integer, nullable=False),
        sa.Column("away_name", sa.Text, nullable=False),
        sa.Column("elapsed", sa.Integer),
        sa.Column("extra", sa.Integer),
        sa.Column("home_goals", sa.Integer),
        sa.Column("away_goals", sa.Integer),
        sa.Column("home_penalties", sa.Integer),
        sa.Column("away_penalties", sa.Integer),
        sa.Column("winner_id", sa.Integer),
        sa.Column("last_monitor", _TIME),
        sa.Column("looked_at", _TIME),
        sa.Column("looked_before", _TIME),
        sa.Column("terminal_polls", sa.Integer, server_default="0", nullable=False),
        sa.Column("trouble", sa.Text, server_default="", nullable=False),
        sa.Column("trouble_since", _TIME),
        sa.Column("version", sa.Integer, server_default="1", nullable=False),
        sa.Column("changed_by", sa.Text),
        sa.Column("activated_at", _TIME),
        sa.Column("completed_at", _TIME),
        sa.Column("last_activity", _TIME),
        _moment("created_at"),
        schema="footy",
    )
    _index("fixtures", "away_id")
    _index("fixtures", "changed_by")
    _index("fixtures", "home_id")
    _index("fixtures", "kickoff")
    _index("fixtures", "stage", "kickoff")
    op.create_table(
        "fetched_fixtures",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("fixture_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("observed", postgresql.JSONB, nullable=False),
        sa.Column("routed", sa.Text),
        _moment("created_at"),
        schema="footy",
    )
    op.create_table(
        "fixture_snapshots",
        sa.Column(
            "fixture_id",
            sa.BigInteger,
            sa.ForeignKey("footy.fixtures.id", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("raw", postgresql.JSONB, nullable=False),
        sa.Column("fetched_by", sa.Text, nullable=False),
        sa.Column("fetched_at", _TIME, nullable=False),
        sa.Column("compared_by", sa.Text),
        schema="footy",
    )
    _index("fixture_snapshots", "fetched_by")
    op.create_table(
        "monitor_runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME),
        sa.Column("summary", postgresql.JSONB, server_default=sa.text("'{}'::jsonb"), nullable=False),
        schema="footy",
    )
    _index("monitor_runs", "started_at")


def _create_goals() -> None:
    op.create_table(
        "goals",
        sa.Column("event_id", sa.Text, primary_key=True),
        sa.Column("fixture_id", sa.BigInteger, sa.ForeignKey("footy.fixtures.id", ondelete="CASCADE"), nullable=False),
        sa.Column("id_team", sa.Integer, nullable=False),
        sa.Column("id_player", sa.Integer, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("team_id", sa.Integer, nullable=False),
        sa.Column("team_name", sa.Text, nullable=False),
        sa.Column("player_id", sa.Integer, server_default="0", nullable=False),
        sa.Column("player_name", sa.Text, server_default="", nullable=False),
        sa.Column("assist_name", sa.Text, server_default="", nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("elapsed", sa.Integer, nullable=False),
        sa.Column("extra", sa.Integer),
        sa.Column("home_score", sa.Integer, nullable=False),
        sa.Column("away_score", sa.Integer, nullable=False),
        sa.Column("team_slug", sa.Text),
        sa.Column("player_slug", sa.Text),
        sa.Column("minute_label", sa.Text),
        sa.Column("first_seen", _TIME, nullable=False),
        sa.Column("unseen_at", _TIME, nullable=False),
        sa.Column("last_seen", _TIME, nullable=False),
        sa.Column("last_activity", _TIME, nullable=False),
        sa.Column("confirmed_at", _TIME),
        sa.Column("search_asked_at", _TIME),
        sa.Column("monitor_complete", sa.Boolean, server_default=_NO, nullable=False),
        sa.Column("monitor_complete_at", _TIME),
        sa.Column("twitter_search", sa.Text, server_default="", nullable=False),
        sa.Column("search_ended", sa.Text),
        sa.Column("search_ended_at", _TIME),
        sa.Column("download_complete", sa.Boolean, server_default=_NO, nullable=False),
        sa.Column("completed_at", _TIME),
        sa.Column("completion_reason", sa.Text, server_default="", nullable=False),
        sa.Column("removed_at", _TIME),
        sa.Column("purged_at", _TIME),
        sa.UniqueConstraint("fixture_id", "id_team", "id_player", "sequence"),
        schema="footy",
    )
    _index("goals", "fixture_id")
    op.create_index(
        "ix_goals_open",
        "goals",
        ["confirmed_at"],
        schema="footy",
        postgresql_where=sa.text("completed_at IS NULL AND removed_at IS NULL"),
    )
    op.create_table(
        "goal_notes",
        _key(),
        sa.Column("event_id", sa.Text, sa.ForeignKey("footy.goals.event_id", ondelete="CASCADE"), nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("before", sa.Text, server_default="", nullable=False),
        sa.Column("after", sa.Text, server_default="", nullable=False),
        schema="footy",
    )
    _index("goal_notes", "event_id", "at")
    _index("goal_notes", "run_id")
    op.create_table(
        "goal_runs",
        sa.Column("event_id", sa.Text, sa.ForeignKey("footy.goals.event_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("register", sa.Text, primary_key=True),
        sa.Column("workflow_id", sa.Text, primary_key=True),
        sa.Column("registered_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME),
        sa.Column("outcome", sa.Text, server_default="", nullable=False),
        sa.CheckConstraint("register IN ('monitor', 'drop', 'download')", name="register"),
        schema="footy",
    )


def _create_clips() -> None:
    op.create_table(
        "clip_searches",
        sa.Column("event_id", sa.Text, sa.ForeignKey("footy.goals.event_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True),
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("searched_at", _TIME, nullable=False),
        sa.Column("found", sa.Integer, server_default="0", nullable=False),
        sa.Column("failure", sa.Text, server_default="", nullable=False),
        schema="footy",
    )
    op.create_table(
        "clips",
        _key(),
        sa.Column("share_id", sa.Text, unique=True, nullable=False),
        sa.Column(
            "former_share_ids", postgresql.ARRAY(sa.Text), server_default=sa.text("'{}'::text[]"), nullable=False
        ),
        sa.Column("event_id", sa.Text, sa.ForeignKey("footy.goals.event_id", ondelete="CASCADE"), nullable=False),
        sa.Column("candidate_id", sa.BigInteger, nullable=False),
        sa.Column("object_key", sa.Text, nullable=False),
        sa.Column("poster_key", sa.Text, nullable=False),
        sa.Column("md5", sa.Text, nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.Column("height", sa.Integer, nullable=False),
        sa.Column("bitrate", sa.BigInteger, nullable=False),
        sa.Column("file_size", sa.BigInteger, nullable=False),
        sa.Column("duration", sa.Float, nullable=False),
        sa.Column("perceptual_hash", sa.LargeBinary),
        sa.Column("timestamp_verified", sa.Boolean, nullable=False),
        sa.Column("extracted_minute", sa.Integer),
        sa.Column("timestamp_status", sa.Text, nullable=False),
        sa.Column("popularity", sa.Integer, server_default="1", nullable=False),
        sa.Column("rank", sa.Integer, server_default="0", nullable=False),
        sa.Column("source_url", sa.Text, nullable=False),
        sa.Column("replacements", sa.Integer, server_default="0", nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.UniqueConstraint("event_id", "candidate_id"),
        schema="footy",
    )
    _index("clips", "event_id", "rank")
    op.create_index(
        "ix_clips_unchecked",
        "clips",
        ["id"],
        schema="footy",
        postgresql_where=sa.text("timestamp_status = 'not yet checked'"),
    )
    op.create_table(
        "clip_candidates",
        _key(),
        sa.Column("event_id", sa.Text, sa.ForeignKey("footy.goals.event_id", ondelete="CASCADE"), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("chosen_in", sa.Integer),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("video_page_url", sa.Text, nullable=False),
        sa.Column("tweet_url", sa.Text, server_default="", nullable=False),
        sa.Column("tweet_text", sa.Text, server_default="", nullable=False),
        sa.Column("media_url", sa.Text),
        sa.Column("duration", sa.Float),
        sa.Column("posted_at", _TIME),
        sa.Column("discovered_at", _TIME, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, server_default="", nullable=False),
        sa.Column("settled_at", _TIME),
        sa.Column("video", postgresql.JSONB),
        sa.Column("fingerprint", sa.LargeBinary),
        sa.Column("clip_id", sa.BigInteger, sa.ForeignKey("footy.clips.id", ondelete="SET NULL")),
        sa.UniqueConstraint("event_id", "video_page_url"),
        schema="footy",
    )
    _index("clip_candidates", "clip_id")


def _create_names() -> None:
    op.create_table(
        "team_aliases",
        sa.Column("team_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("country", sa.Text, server_default="", nullable=False),
        sa.Column("aliases", postgresql.ARRAY(sa.Text), server_default=sa.text("'{}'::text[]"), nullable=False),
        sa.Column("source", sa.Text, server_default="", nullable=False),
        sa.Column("fetched_at", _TIME),
        schema="footy",
    )
    op.create_table(
        "follows",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, server_default="", nullable=False),
        sa.Column("wanted", sa.Boolean, nullable=False),
        _moment("changed_at"),
        sa.CheckConstraint("kind IN ('league', 'team')", name="kind"),
        schema="footy",
    )
    op.create_table(
        "source_health",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("checked_at", _TIME, nullable=False),
        sa.Column("worked_at", _TIME),
        sa.Column("found", sa.Integer, server_default="0", nullable=False),
        sa.Column("failure", sa.Text, server_default="", nullable=False),
        schema="footy",
    )


def _key() -> sa.Column[int]:
    return sa.Column("id", sa.BigInteger, primary_key=True)


def _moment(name: str) -> sa.Column[datetime]:
    return sa.Column(name, _TIME, server_default=_NOW, nullable=False)


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns), schema="footy")
