"""`pressbox bench cost` counts real work on parts of its own."""

import pytest

from pressbox.bench.cost.run import measure, run_cost
from pressbox.bench.cost.stage import open_stage
from pressbox.core.errors import InvalidInputError
from pressbox.core.quotas.store import limit_of
from pressbox.curator.library.quotas import QUESTIONS
from pressbox.curator.settings import CuratorSettings
from pressbox.entry.manifests import APPLICATIONS


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_a_look_for_feeds_with_nothing_to_do_is_one_activity() -> None:
    cost = await measure(APPLICATIONS, "look for feeds", 2)
    # A start, an activity, and the mark of the version with its search attribute.
    assert cost.actions == 2 * 4
    assert 0 < cost.statements <= 2 * 20


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_more_questions_are_counted_than_a_person_may_ask_in_a_day() -> None:
    async with open_stage(APPLICATIONS, CuratorSettings()) as stage, stage.resources.database.unit_of_work() as work:
        assert await limit_of(work.session, QUESTIONS, stage.user_id) > QUESTIONS.default


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="There are: article"):
        run_cost(lambda _: None, APPLICATIONS, (1,), ("goals",))
