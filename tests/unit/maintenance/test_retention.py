"""What is removed, in which order."""

from datetime import UTC, datetime, timedelta

from pressbox.maintenance.domain.retention import Step, plan

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_every_kind_is_planned_once_in_a_fixed_order() -> None:
    steps = plan(
        NOW, keep_changes=timedelta(hours=1), keep_progress=timedelta(days=7), keep_scratch=timedelta(hours=24)
    )
    assert [planned.step for planned in steps] == list(Step)
    ages = {planned.step: NOW - planned.before for planned in steps}
    assert ages == {
        Step.SESSIONS: timedelta(0),
        Step.TOKENS: timedelta(0),
        Step.RATE_LIMITS: timedelta(0),
        Step.CHANGES: timedelta(hours=1),
        Step.PROGRESS: timedelta(days=7),
        Step.SCRATCH: timedelta(hours=24),
    }
