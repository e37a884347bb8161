"""The tables of footy. Raw data never overwrites enhanced data: what the API said lies in `fixture_snapshots`."""

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

SCHEMA = {"schema": "footy"}


class FixtureRow(Base):
    __tablename__ = "fixtures"
    __table_args__ = (Index(None, "stage", "kickoff"), Index(None, "kickoff"), SCHEMA)

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
    # The last answer that was understood, and the one before it: a goal that is new came between the two.
    looked_at: Mapped[datetime | None]
    looked_before: Mapped[datetime | None]
    terminal_polls: Mapped[int] = mapped_column(Integer, server_default="0")
    # What is wrong with it at the moment, for people; empty when its last poll was good.
    trouble: Mapped[str] = mapped_column(Text, server_default="")
    trouble_since: Mapped[datetime | None]
    # Rises with every write of a poll: what was decided on an older state is decided again.
    version: Mapped[int] = mapped_column(Integer, server_default="1")
    changed_by: Mapped[str | None] = mapped_column(Text, index=True)
    activated_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    last_activity: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class FetchedFixtureRow(Base):
    """What Ingest fetched and has not routed yet: a busy day does not fit a payload."""

    __tablename__ = "fetched_fixtures"
    __table_args__ = (SCHEMA,)

    run_id: Mapped[str] = mapped_column(Text, primary_key=True)
    fixture_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    observed: Mapped[dict[str, Any]] = mapped_column(JSONB)
    # Where it went: a stage, or "known". The same run asked again answers the same.
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


class MonitorRunRow(Base):
    """One poll, kept for the trail."""

    __tablename__ = "monitor_runs"
    __table_args__ = (Index(None, "started_at"), SCHEMA)

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    summary: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")


class GoalRow(Base):
    """One goal. The event id was given at first sight; team, player and minute follow corrections, the id does not."""

    __tablename__ = "goals"
    __table_args__ = (
        UniqueConstraint("fixture_id", "id_team", "id_player", "sequence"),
        Index(None, "fixture_id"),
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
    # When an answer last lacked it. Clips of it are not older, however long nobody looked.
    unseen_at: Mapped[datetime]
    last_seen: Mapped[datetime]
    last_activity: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]
    # When a monitor first asked for the search; the search itself sets monitor_complete.
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
    """What happened to a goal that no other table tells: named, re-attributed, corrected, removed, restored."""

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
    # Of clips that turned out to show the same scene: their links lead here.
    former_share_ids: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default="{}")
    event_id: Mapped[str] = mapped_column(ForeignKey("footy.goals.event_id", ondelete="CASCADE"))
    # The candidate whose file this is at present.
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
    # Replaced so many times by a better copy.
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
    # The attempt whose download took it; one that was found may wait for a later attempt.
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
    # The accepted file and its fingerprint: scenes are made of all copies, not of the shown one alone.
    video: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    fingerprint: Mapped[bytes | None] = mapped_column(LargeBinary)
    # The clip of which this is a copy; popularity is counted over these.
    clip_id: Mapped[int | None] = mapped_column(ForeignKey("footy.clips.id", ondelete="SET NULL"))


class TeamRow(Base):
    """A team that we met in a fixture, with its aliases as cached."""

    __tablename__ = "team_aliases"
    __table_args__ = (SCHEMA,)

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


class SourceHealthRow(Base):
    """The last answer of each clip source to its canary search."""

    __tablename__ = "source_health"
    __table_args__ = (SCHEMA,)

    source: Mapped[str] = mapped_column(Text, primary_key=True)
    checked_at: Mapped[datetime]
    worked_at: Mapped[datetime | None]
    found: Mapped[int] = mapped_column(Integer, server_default="0")
    failure: Mapped[str] = mapped_column(Text, server_default="")
