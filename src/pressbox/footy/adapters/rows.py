"""The tables of footy. Raw answers of the API lie in `fixture_snapshots` and never overwrite what we found out."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.core.db.words import words_index

SCHEMA = {"schema": "footy"}


class FixtureRow(Base):
    __tablename__ = "fixtures"
    __table_args__ = (
        Index(None, "stage", "kickoff"),
        Index(None, "kickoff"),
        words_index("fixtures", "home_name, away_name"),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    stage: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)
    kickoff: Mapped[datetime]
    league_id: Mapped[int] = mapped_column(Integer)
    league_name: Mapped[str] = mapped_column(Text)
    country: Mapped[str] = mapped_column(Text, server_default="")
    round: Mapped[str] = mapped_column(Text, server_default="")
    venue: Mapped[str] = mapped_column(Text, server_default="")
    home_id: Mapped[int] = mapped_column(Integer, index=True)
    home_name: Mapped[str] = mapped_column(Text)
    away_id: Mapped[int] = mapped_column(Integer, index=True)
    away_name: Mapped[str] = mapped_column(Text)
    elapsed: Mapped[int | None] = mapped_column(Integer)
    extra: Mapped[int | None] = mapped_column(Integer)
    home_goals: Mapped[int | None] = mapped_column(Integer)
    away_goals: Mapped[int | None] = mapped_column(Integer)
    home_penalties: Mapped[int | None] = mapped_column(Integer)
    away_penalties: Mapped[int | None] = mapped_column(Integer)
    winner_id: Mapped[int | None] = mapped_column(Integer)
    last_monitor: Mapped[datetime | None]
    # The last parsed answer and the one before it: a new goal was scored between the two.
    looked_at: Mapped[datetime | None]
    looked_before: Mapped[datetime | None]
    # When an answer last said something new of it.
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())
    terminal_polls: Mapped[int] = mapped_column(Integer, server_default="0")
    # What is wrong at the moment, for people; empty when the last poll was good.
    trouble: Mapped[str] = mapped_column(Text, server_default="")
    trouble_since: Mapped[datetime | None]
    # Rises with every write of a poll: a decision that was made on an older version is made again.
    version: Mapped[int] = mapped_column(Integer, server_default="1")
    changed_by: Mapped[str | None] = mapped_column(Text, index=True)
    activated_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    last_activity: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class FetchedFixtureRow(Base):
    """A fixture that Ingest fetched: a busy day does not fit into a payload."""

    __tablename__ = "fetched_fixtures"
    __table_args__ = (SCHEMA,)

    run_id: Mapped[str] = mapped_column(Text, primary_key=True)
    fixture_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    observed: Mapped[dict[str, Any]] = mapped_column(JSONB)
    # Where it went: a stage, or "known". It makes repeating the run harmless.
    routed: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class FixtureSnapshotRow(Base):
    """The last raw answer for a live fixture (`fixtures_live` of the documents), overwritten by each poll."""

    __tablename__ = "fixture_snapshots"
    __table_args__ = (Index(None, "fetched_by"), SCHEMA)

    fixture_id: Mapped[int] = mapped_column(
        ForeignKey("footy.fixtures.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    raw: Mapped[dict[str, Any]] = mapped_column(JSONB)
    fetched_by: Mapped[str] = mapped_column(Text)
    fetched_at: Mapped[datetime]
    compared_by: Mapped[str | None] = mapped_column(Text)


class FixtureStateRow(Base):
    """What an answer said of a fixture from this moment on. A trigger keeps it whenever one of these changes."""

    __tablename__ = "fixture_states"
    __table_args__ = (SCHEMA,)

    fixture_id: Mapped[int] = mapped_column(
        ForeignKey("footy.fixtures.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    at: Mapped[datetime] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(Text)
    elapsed: Mapped[int | None] = mapped_column(Integer)
    extra: Mapped[int | None] = mapped_column(Integer)
    home_goals: Mapped[int | None] = mapped_column(Integer)
    away_goals: Mapped[int | None] = mapped_column(Integer)
    home_penalties: Mapped[int | None] = mapped_column(Integer)
    away_penalties: Mapped[int | None] = mapped_column(Integer)
    winner_id: Mapped[int | None] = mapped_column(Integer)


class MonitorRunRow(Base):
    """One poll, kept for the trail."""

    __tablename__ = "monitor_runs"
    __table_args__ = (Index(None, "started_at"), SCHEMA)

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    summary: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")


class GoalRow(Base):
    """One goal. Team, player and minute follow corrections; the event id is given at first sight and stays."""

    __tablename__ = "goals"
    __table_args__ = (
        UniqueConstraint("fixture_id", "id_team", "id_player", "sequence"),
        Index(None, "fixture_id"),
        words_index("goals", "player_name"),
        Index("ix_goals_open", "confirmed_at", postgresql_where=text("completed_at IS NULL AND removed_at IS NULL")),
        SCHEMA,
    )

    event_id: Mapped[str] = mapped_column(Text, primary_key=True)
    fixture_id: Mapped[int] = mapped_column(ForeignKey("footy.fixtures.id", ondelete="CASCADE"))
    # The parts of the id as first seen.
    id_team: Mapped[int] = mapped_column(Integer)
    id_player: Mapped[int] = mapped_column(Integer)
    sequence: Mapped[int] = mapped_column(Integer)
    # What the API says now.
    team_id: Mapped[int] = mapped_column(Integer)
    team_name: Mapped[str] = mapped_column(Text)
    player_id: Mapped[int] = mapped_column(Integer, server_default="0")
    player_name: Mapped[str] = mapped_column(Text, server_default="")
    assist_name: Mapped[str] = mapped_column(Text, server_default="")
    detail: Mapped[str] = mapped_column(Text)
    elapsed: Mapped[int] = mapped_column(Integer)
    extra: Mapped[int | None] = mapped_column(Integer)
    home_score: Mapped[int] = mapped_column(Integer)
    away_score: Mapped[int] = mapped_column(Integer)
    # Frozen when the goal is confirmed; parts of workflow ids.
    team_slug: Mapped[str | None] = mapped_column(Text)
    player_slug: Mapped[str | None] = mapped_column(Text)
    minute_label: Mapped[str | None] = mapped_column(Text)
    first_seen: Mapped[datetime]
    # When an answer last lacked it. Its clips cannot be older.
    unseen_at: Mapped[datetime]
    last_seen: Mapped[datetime]
    last_activity: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]
    # When a poll last requested the search; the search itself sets monitor_complete.
    search_asked_at: Mapped[datetime | None]
    monitor_complete: Mapped[bool] = mapped_column(Boolean, server_default="false")
    monitor_complete_at: Mapped[datetime | None]
    twitter_search: Mapped[str] = mapped_column(Text, server_default="")
    search_ended: Mapped[str | None] = mapped_column(Text)
    search_ended_at: Mapped[datetime | None]
    download_complete: Mapped[bool] = mapped_column(Boolean, server_default="false")
    completed_at: Mapped[datetime | None]
    completion_reason: Mapped[str] = mapped_column(Text, server_default="")
    removed_at: Mapped[datetime | None]
    purged_at: Mapped[datetime | None]


class GoalNoteRow(Base):
    """A change of a goal: named, reattributed, corrected, removed, restored."""

    __tablename__ = "goal_notes"
    __table_args__ = (Index(None, "event_id", "at"), Index(None, "run_id"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event_id: Mapped[str] = mapped_column(ForeignKey("footy.goals.event_id", ondelete="CASCADE"))
    run_id: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime]
    what: Mapped[str] = mapped_column(Text)
    before: Mapped[str] = mapped_column(Text, server_default="")
    after: Mapped[str] = mapped_column(Text, server_default="")


class GoalRunRow(Base):
    """The registers: sets of workflow ids, not counters."""

    __tablename__ = "goal_runs"
    __table_args__ = (CheckConstraint("register IN ('monitor', 'drop', 'download')", name="register"), SCHEMA)

    event_id: Mapped[str] = mapped_column(ForeignKey("footy.goals.event_id", ondelete="CASCADE"), primary_key=True)
    register: Mapped[str] = mapped_column(Text, primary_key=True)
    workflow_id: Mapped[str] = mapped_column(Text, primary_key=True)
    registered_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    outcome: Mapped[str] = mapped_column(Text, server_default="")


class ClipSearchRow(Base):
    """What one source answered in one attempt."""

    __tablename__ = "clip_searches"
    __table_args__ = (SCHEMA,)

    event_id: Mapped[str] = mapped_column(ForeignKey("footy.goals.event_id", ondelete="CASCADE"), primary_key=True)
    attempt: Mapped[int] = mapped_column(Integer, primary_key=True)
    source: Mapped[str] = mapped_column(Text, primary_key=True)
    query: Mapped[str] = mapped_column(Text)
    searched_at: Mapped[datetime]
    found: Mapped[int] = mapped_column(Integer, server_default="0")
    failure: Mapped[str] = mapped_column(Text, server_default="")


class ClipRow(Base):
    """One scene of a goal in its best copy. The share id names the slot and survives a better file."""

    __tablename__ = "clips"
    __table_args__ = (
        UniqueConstraint("event_id", "candidate_id"),
        Index(None, "event_id", "rank"),
        Index("ix_clips_unchecked", "id", postgresql_where=text("timestamp_status = 'not yet checked'")),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    share_id: Mapped[str] = mapped_column(Text, unique=True)
    # Share ids of clips that were merged into this one: their links lead here.
    former_share_ids: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default="{}")
    event_id: Mapped[str] = mapped_column(ForeignKey("footy.goals.event_id", ondelete="CASCADE"))
    # The candidate whose file is shown.
    candidate_id: Mapped[int] = mapped_column(BigInteger)
    object_key: Mapped[str] = mapped_column(Text)
    poster_key: Mapped[str] = mapped_column(Text)
    md5: Mapped[str] = mapped_column(Text)
    width: Mapped[int] = mapped_column(Integer)
    height: Mapped[int] = mapped_column(Integer)
    bitrate: Mapped[int] = mapped_column(BigInteger)
    file_size: Mapped[int] = mapped_column(BigInteger)
    duration: Mapped[float] = mapped_column(Float)
    perceptual_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    timestamp_verified: Mapped[bool] = mapped_column(Boolean)
    extracted_minute: Mapped[int | None] = mapped_column(Integer)
    timestamp_status: Mapped[str] = mapped_column(Text)
    popularity: Mapped[int] = mapped_column(Integer, server_default="1")
    rank: Mapped[int] = mapped_column(Integer, server_default="0")
    source_url: Mapped[str] = mapped_column(Text)
    # How often a better copy took its place.
    replacements: Mapped[int] = mapped_column(Integer, server_default="0")
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class ClipCandidateRow(Base):
    """One found URL of one goal and what became of it."""

    __tablename__ = "clip_candidates"
    __table_args__ = (UniqueConstraint("event_id", "video_page_url"), Index(None, "clip_id"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event_id: Mapped[str] = mapped_column(ForeignKey("footy.goals.event_id", ondelete="CASCADE"))
    attempt: Mapped[int] = mapped_column(Integer)
    # The attempt whose download chose it; it may wait for a later attempt than the one that found it.
    chosen_in: Mapped[int | None] = mapped_column(Integer)
    source: Mapped[str] = mapped_column(Text)
    video_page_url: Mapped[str] = mapped_column(Text)
    tweet_url: Mapped[str] = mapped_column(Text, server_default="")
    tweet_text: Mapped[str] = mapped_column(Text, server_default="")
    media_url: Mapped[str | None] = mapped_column(Text)
    duration: Mapped[float | None] = mapped_column(Float)
    posted_at: Mapped[datetime | None]
    discovered_at: Mapped[datetime]
    outcome: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text, server_default="")
    settled_at: Mapped[datetime | None]
    # The accepted file and its fingerprint: scenes consist of all copies, not only of the shown one.
    video: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    fingerprint: Mapped[bytes | None] = mapped_column(LargeBinary)
    # The clip of which this is a copy; popularity is counted over these.
    clip_id: Mapped[int | None] = mapped_column(ForeignKey("footy.clips.id", ondelete="SET NULL"))


class TeamRow(Base):
    """A team of a stored fixture, with its cached aliases."""

    __tablename__ = "team_aliases"
    __table_args__ = (words_index("team_aliases", "name, core.join_texts(aliases)"), SCHEMA)

    team_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    country: Mapped[str] = mapped_column(Text, server_default="")
    aliases: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default="{}")
    source: Mapped[str] = mapped_column(Text, server_default="")
    fetched_at: Mapped[datetime | None]


class FollowRow(Base):
    """Leagues and teams that people added to those of the settings, or took away from them."""

    __tablename__ = "follows"
    __table_args__ = (CheckConstraint("kind IN ('league', 'team')", name="kind"), SCHEMA)

    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text, server_default="")
    wanted: Mapped[bool] = mapped_column(Boolean)
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())


class DirectoryRow(Base):
    """The name of a league or team, from a fixture or a search at API-Football. It outlives the fixtures."""

    __tablename__ = "directory"
    __table_args__ = (
        CheckConstraint("kind IN ('league', 'team')", name="kind"),
        words_index("directory", "words, country"),
        SCHEMA,
    )

    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    country: Mapped[str] = mapped_column(Text, server_default="")
    # The name in plain words, as searches compare it.
    words: Mapped[str] = mapped_column(Text)


class DirectorySearchRow(Base):
    """A search that API-Football has answered: what it found is in the directory."""

    __tablename__ = "directory_searches"
    __table_args__ = (SCHEMA,)

    text: Mapped[str] = mapped_column(Text, primary_key=True)
    asked_at: Mapped[datetime]


class SourceHealthRow(Base):
    """The last answer of each clip source to its canary search."""

    __tablename__ = "source_health"
    __table_args__ = (SCHEMA,)

    source: Mapped[str] = mapped_column(Text, primary_key=True)
    checked_at: Mapped[datetime]
    worked_at: Mapped[datetime | None]
    found: Mapped[int] = mapped_column(Integer, server_default="0")
    failure: Mapped[str] = mapped_column(Text, server_default="")


class RequestBudgetRow(Base):
    """What is known of the requests that one key may make, shared by all processes."""

    __tablename__ = "request_budgets"
    __table_args__ = (SCHEMA,)

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    state: Mapped[dict[str, Any]] = mapped_column(JSONB)
    changed_at: Mapped[datetime]
