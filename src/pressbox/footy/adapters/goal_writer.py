"""Writes what one poll means for goals, inside the transaction that holds their fixtures."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Update, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of, one_of_texts
from pressbox.footy.adapters.rows import ClipCandidateRow, FixtureRow, GoalNoteRow, GoalRow, GoalRunRow
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.goals import (
    UNKNOWN_PLAYER,
    Comparison,
    CompletionReason,
    MissedGoal,
    NewGoal,
    Observation,
    Score,
    SearchEnd,
    SeenGoal,
    Sighting,
)
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.search_window import is_too_late

FIRST_SEEN = "first seen"
CONFIRMED = "confirmed"
REMOVED = "removed"
UNNAMED = "unknown scorer"


class _GoalWriter:
    """The locked goals of some fixtures, and what one run changes about them."""

    def __init__(
        self,
        session: AsyncSession,
        run_id: str,
        rows: Mapping[str, GoalRow],
        unseen: Mapping[int, datetime],
        now: datetime,
        policy: FootyPolicy,
        *,
        asked_for: bool,
    ) -> None:
        self._session = session
        self._run_id = run_id
        self._rows = dict(rows)
        self._unseen = unseen
        self._now = now
        self._policy = policy
        self._asked_for = asked_for
        self._registers: list[dict[str, object]] = []
        self._notes: list[dict[str, object]] = []
        self._restored: list[str] = []
        self._moved: list[str] = []

    @property
    def known(self) -> Mapping[str, GoalRow]:
        return self._rows

    def take_over(self, fixture_id: int, comparison: Comparison) -> None:
        for created in comparison.created:
            self.create(fixture_id, created)
        for seen in comparison.seen:
            self.see(seen)
        for missed in comparison.missed:
            self.miss(missed)
        for event_id, score in comparison.rescored.items():
            self.rescore(event_id, score)
        for disallowed in comparison.disallowed:
            self.create_disallowed(fixture_id, disallowed)
        for event_id in comparison.proven:
            self.prove(event_id)

    def create(self, fixture_id: int, goal: NewGoal) -> None:
        if goal.event_id in self._rows:
            return
        row = self._add(fixture_id, goal)
        if not self._asked_for and is_too_late(self._policy, row.unseen_at, self._now):
            row.completed_at, row.completion_reason = self._now, CompletionReason.TOO_LATE
            row.download_complete = True
        self._register(goal.event_id, "monitor", "seen")
        self.note(goal.event_id, FIRST_SEEN, "", _describe(row))

    def create_disallowed(self, fixture_id: int, goal: NewGoal) -> None:
        """Keep a goal of which only the decision against it was seen."""
        if goal.event_id in self._rows:
            return
        row = self._add(fixture_id, goal)
        row.confirmed_at = row.removed_at = row.completed_at = self._now
        row.completion_reason, row.download_complete = CompletionReason.REMOVED, True
        self.note(goal.event_id, REMOVED, _describe(row), "")

    def prove(self, event_id: str) -> None:
        """A decision of the video referee says that a removed goal was scored, though too few polls saw it."""
        row = self._rows.get(event_id)
        if row is None or row.removed_at is None or row.confirmed_at is not None:
            return
        row.confirmed_at = self._now
        row.last_activity = max(row.last_activity, self._now)

    def _add(self, fixture_id: int, goal: NewGoal) -> GoalRow:
        observation = goal.observation
        row = GoalRow(
            event_id=goal.event_id,
            fixture_id=fixture_id,
            id_team=observation.team_id,
            id_player=observation.player_id or UNKNOWN_PLAYER,
            sequence=goal.sequence,
            first_seen=self._now,
            unseen_at=self._unseen.get(fixture_id, self._now),
            last_seen=self._now,
            last_activity=self._now,
        )
        _fill_row(row, observation, goal.score)
        self._session.add(row)
        self._rows[goal.event_id] = row
        return row

    def see(self, goal: SeenGoal) -> None:
        row = self._rows.get(goal.event_id)
        if row is None:
            return
        row.last_seen = max(row.last_seen, self._now)
        if goal.registers:
            self._register(goal.event_id, "monitor", "seen")
        if goal.sighting is Sighting.UNCHANGED:
            return
        before, minute = _describe(row), (row.elapsed, row.extra or 0)
        _fill_row(row, goal.observation, goal.score)
        if (row.elapsed, row.extra or 0) != minute and row.search_ended is None:
            # The search still takes what was refused for the former minute.
            self._moved.append(row.event_id)
        row.last_activity = max(row.last_activity, self._now)
        if goal.sighting is Sighting.RESTORED:
            _restore(row, self._now)
            self._restored.append(row.event_id)
        self.note(goal.event_id, goal.sighting, before, _describe(row))

    def miss(self, goal: MissedGoal) -> None:
        row = self._rows.get(goal.event_id)
        if row is None or row.removed_at is not None:
            return
        self._register(goal.event_id, "drop", "missed")
        if not goal.removes:
            return
        row.removed_at = self._now
        row.last_activity = max(row.last_activity, self._now)
        if row.completed_at is None:
            row.completed_at, row.completion_reason = self._now, CompletionReason.REMOVED
            row.download_complete = True
        self.note(goal.event_id, REMOVED, _describe(row), "")

    def rescore(self, event_id: str, score: Score) -> None:
        row = self._rows.get(event_id)
        if row is None:
            return
        before = _describe(row)
        row.home_score, row.away_score = score.home, score.away
        row.last_activity = max(row.last_activity, self._now)
        self.note(event_id, Sighting.CORRECTED, before, _describe(row))

    def note(self, event_id: str, what: str, before: str, after: str) -> None:
        self._notes.append(
            {
                "event_id": event_id,
                "run_id": self._run_id,
                "at": self._now,
                "what": what,
                "before": before,
                "after": after,
            }
        )

    async def write(self) -> None:
        """Write goals before their registers, which refer to them."""
        await self._session.flush()
        if self._registers:
            await self._session.execute(insert(GoalRunRow).on_conflict_do_nothing(), self._registers)
            self._registers = []

        if self._restored:
            dropped = (CandidateOutcome.GOAL_GONE, CandidateOutcome.NOT_CHOSEN)
            await self._session.execute(_reopen(self._restored, dropped))
        if self._moved:
            await self._session.execute(_reopen(self._moved, (CandidateOutcome.WRONG_MINUTE,)))

    async def write_notes(self) -> None:
        if self._notes:
            await self._session.execute(insert(GoalNoteRow), self._notes)
            self._notes = []

    def _register(self, event_id: str, register: str, outcome: str) -> None:
        self._registers.append(
            {
                "event_id": event_id,
                "register": register,
                "workflow_id": self._run_id,
                "registered_at": self._now,
                "finished_at": self._now,
                "outcome": outcome,
            }
        )


async def write_comparisons(
    session: AsyncSession,
    run_id: str,
    comparisons: Mapping[int, Comparison],
    policy: FootyPolicy,
    now: datetime,
    *,
    asked_for: bool = False,
) -> set[int]:
    """Write comparisons by fixture id; returns the fixtures in which a goal was confirmed.

    Somebody `asked_for` these matches: their goals are searched for, however old they are.
    """
    found = await session.scalars(
        select(GoalRow).where(GoalRow.fixture_id == one_of(comparisons)).order_by(GoalRow.event_id).with_for_update()
    )
    unseen = await _load_unseen(
        session, [number for number, comparison in comparisons.items() if comparison.created], now
    )
    writer = _GoalWriter(
        session, run_id, {row.event_id: row for row in found}, unseen, now, policy, asked_for=asked_for
    )
    for fixture_id, comparison in comparisons.items():
        writer.take_over(fixture_id, comparison)
    seen_again = [goal.event_id for comparison in comparisons.values() for goal in comparison.seen]
    if seen_again:
        names = one_of_texts(seen_again)
        await session.execute(delete(GoalRunRow).where(GoalRunRow.event_id == names, GoalRunRow.register == "drop"))
    await writer.write()
    confirmed = await _confirm(session, writer, policy, now)
    await writer.write_notes()
    return confirmed


async def _load_unseen(session: AsyncSession, fixture_ids: Sequence[int], now: datetime) -> Mapping[int, datetime]:
    """When a new goal was last missing: in the answer before this one, or at kick-off before the first answer."""
    if not fixture_ids:
        return {}
    statement = select(FixtureRow.id, func.coalesce(FixtureRow.looked_before, FixtureRow.kickoff)).where(
        FixtureRow.id == one_of(fixture_ids)
    )
    return {number: min(at, now) for number, at in (await session.execute(statement)).tuples()}


async def _confirm(session: AsyncSession, writer: _GoalWriter, policy: FootyPolicy, now: datetime) -> set[int]:
    """Confirm goals that were seen often enough and whose scorer is known; returns their fixtures."""
    waiting = {
        event_id: row
        for event_id, row in writer.known.items()
        if row.confirmed_at is None and row.removed_at is None and row.player_name
    }
    if not waiting:
        return set()
    often = (
        select(GoalRunRow.event_id)
        .where(GoalRunRow.event_id == one_of_texts(waiting), GoalRunRow.register == "monitor")
        .group_by(GoalRunRow.event_id)
        .having(func.count() >= policy.runs_to_confirm)
    )
    confirmed = list(await session.scalars(often))
    for event_id in confirmed:
        waiting[event_id].confirmed_at = now
        waiting[event_id].last_activity = max(waiting[event_id].last_activity, now)
        writer.note(event_id, CONFIRMED, "", _describe(waiting[event_id]))
    return {waiting[event_id].fixture_id for event_id in confirmed}


def _fill_row(row: GoalRow, observation: Observation, score: Score) -> None:
    """Store what the API says now; the id and the readable parts of workflow ids stay."""
    row.team_id, row.team_name = observation.team_id, observation.team_name
    row.player_id, row.player_name = observation.player_id or UNKNOWN_PLAYER, observation.player_name or ""
    row.assist_name = observation.assist_name or ""
    row.detail = observation.detail
    row.elapsed, row.extra = observation.elapsed, observation.extra
    row.home_score, row.away_score = score.home, score.away


def _reopen(event_ids: Sequence[str], dropped: Sequence[CandidateOutcome]) -> Update:
    """Candidates that were dropped for what is no longer true of their goal can be chosen again."""
    return (
        update(ClipCandidateRow)
        .where(ClipCandidateRow.event_id == one_of_texts(event_ids), ClipCandidateRow.outcome.in_(dropped))
        .values(outcome=CandidateOutcome.FOUND, reason="", settled_at=None, chosen_in=None)
    )


def _restore(row: GoalRow, now: datetime) -> None:
    """The deadline begins again: it may have passed while the goal was gone.

    One that was never searched for is confirmed by polls, not by the decision that took it back.
    """
    row.removed_at = row.purged_at = None
    row.confirmed_at = now if row.confirmed_at and row.search_asked_at else None
    if row.search_ended == SearchEnd.GONE:
        # Its search has ended: the next poll requests another.
        row.monitor_complete = False
    if row.completion_reason == CompletionReason.REMOVED:
        row.completed_at, row.completion_reason, row.download_complete = None, "", False


def read_scorer(description: str) -> str:
    """Read the scorer from the description of a goal in a note; empty when none was known."""
    name = description.partition(", ")[0]
    return "" if name == UNNAMED else name


def _describe(row: GoalRow) -> str:
    minute = f"{row.elapsed}+{row.extra}" if row.extra else str(row.elapsed)
    who = row.player_name or UNNAMED
    return f"{who}, {row.team_name}, {minute}', {row.detail}, {row.home_score}–{row.away_score}"
