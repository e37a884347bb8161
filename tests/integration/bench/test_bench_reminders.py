"""The benchmark of reminders measures what it says. No test looks at a time."""

from pressbox.bench.reminders import Scale, measure_schedules
from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Resources


async def test_every_step_calls_for_what_changed_and_for_nothing_else(resources: Resources) -> None:
    async with resources.database.unit_of_work() as work:
        work.session.add(UserRow(email="organiser@example.org", name="", password_hash="unusable", role="member"))
    steps = await measure_schedules(resources, Scale(subscriptions=6, sampled=2, changed=2), lambda _: None)
    assert [(step.changed, step.calls) for step in steps] == [(12, 12), (0, 0), (12, 12), (4, 4), (8, 8)]
    compared = [step for step in steps if step.one_by_one is not None]
    assert [step.name for step in compared] == ["create", "move", "delete"]
    assert all(step.per_second > 0 and (step.one_by_one or 0) > 0 for step in compared)
