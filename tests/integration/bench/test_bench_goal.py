"""`pressbox bench goal` sends a real goal by every way, and counts it."""

import pytest

from pressbox.bench.goal import WAYS, list_figures, measure


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_a_goal_for_three_is_one_short_run_and_one_request_for_each_phone() -> None:
    cost = await measure(3)
    assert cost.requests == 3
    assert cost.workflows >= 1
    # A page of three costs an activity; a further look that finds nothing would be another short run.
    assert cost.events <= 11 * cost.workflows
    assert 0 < cost.published <= 12
    assert cost.sent > 0
    assert set(cost.seconds) == set(WAYS)
    names = [figure.name.strip() for figure in list_figures(cost)]
    assert names[:4] == [
        "followers: 3",
        "statements to publish",
        "statements to send",
        "requests to the push service",
    ]
