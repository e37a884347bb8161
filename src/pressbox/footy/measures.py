"""What people who follow matches wait for."""

from pressbox.core.measures import Measure

# Goals of the matches of a day: few rows, found by kick-off.
_GOALS = (
    "FROM footy.fixtures AS fixture JOIN footy.goals AS goal ON goal.fixture_id = fixture.id "
    "CROSS JOIN LATERAL (SELECT min(created_at) AS at FROM footy.clips AS clip WHERE clip.event_id = goal.event_id) "
    "AS first WHERE fixture.kickoff > now() - interval '1 day' AND fixture.kickoff <= now() "
    "AND goal.removed_at IS NULL"
)
_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM first.at - goal.first_seen))"

MEASURES = (
    Measure(
        "pressbox_goal_to_clip_seconds",
        "From the first sight of a goal to its first clip, the median of a day's goals that have one.",
        f"SELECT '', {_MEDIAN} {_GOALS} AND first.at IS NOT NULL",
    ),
    Measure(
        "pressbox_goals_without_clip",
        "Goals of a day's matches that have no clip.",
        f"SELECT '', count(*) {_GOALS} AND first.at IS NULL",
    ),
)
