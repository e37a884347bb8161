"""Goals as the storage keeps them, in memory: what comparisons change, and which searches they start."""

from dataclasses import replace
from datetime import datetime

from pressbox.footy.domain.goals import Comparison, StoredGoal
from pressbox.footy.domain.policy import FootyPolicy

POLICY = FootyPolicy()


class Ledger:
    """Keeps goals as the storage does: rows, registers as sets, searches that are started once."""

    def __init__(self) -> None:
        self.goals: dict[str, StoredGoal] = {}
        self.sequences: dict[tuple[int, int], int] = {}
        self.searches: list[str] = []

    def apply(self, result: Comparison, run_id: str, now: datetime) -> None:
        for new in result.created:
            goal = new.observation
            assert new.event_id not in self.goals, "an id was given twice"
            key = (goal.team_id, goal.player_id or 0)
            assert new.sequence > self.sequences.get(key, 0), "a number was used again"
            self.sequences[key] = new.sequence
            self.goals[new.event_id] = StoredGoal(
                new.event_id,
                goal.team_id,
                goal.player_id or 0,
                goal.player_name or "",
                goal.detail,
                goal.elapsed,
                goal.extra,
                new.score,
                frozenset({run_id}),
                frozenset(),
            )
        for seen in result.seen:
            goal, known = seen.observation, self.goals[seen.event_id]
            self.goals[seen.event_id] = replace(
                known,
                team_id=goal.team_id,
                player_id=goal.player_id or 0,
                player_name=goal.player_name or "",
                detail=goal.detail,
                elapsed=goal.elapsed,
                extra=goal.extra,
                score=seen.score,
                monitor_runs=known.monitor_runs | ({run_id} if seen.registers else set()),
                drop_runs=frozenset(),
                removed_at=None,
            )
        for miss in result.missed:
            known = self.goals[miss.event_id]
            removed_at = now if miss.removes else None
            self.goals[miss.event_id] = replace(known, drop_runs=known.drop_runs | {run_id}, removed_at=removed_at)
        for gone in result.disallowed:
            goal = gone.observation
            self.sequences[goal.team_id, goal.player_id or 0] = gone.sequence
            self.goals[gone.event_id] = StoredGoal(
                gone.event_id,
                goal.team_id,
                goal.player_id or 0,
                goal.player_name or "",
                goal.detail,
                goal.elapsed,
                goal.extra,
                gone.score,
                frozenset(),
                frozenset(),
                removed_at=now,
                confirmed=True,
            )
        for event_id in result.proven:
            self.goals[event_id] = replace(self.goals[event_id], confirmed=True)
        for event_id, score in result.rescored.items():
            self.goals[event_id] = replace(self.goals[event_id], score=score)

    def start_searches(self) -> None:
        for name, goal in self.goals.items():
            if len(goal.monitor_runs) >= POLICY.runs_to_confirm and goal.player_name and goal.removed_at is None:
                if not goal.monitor_complete:
                    self.searches.append(name)
                self.goals[name] = replace(goal, monitor_complete=True)

    def present(self) -> set[str]:
        return {name for name, goal in self.goals.items() if goal.removed_at is None}
