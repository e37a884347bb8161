"""The crowd that benchmarks gather is made of people who really follow the event."""

import httpx

from pressbox.bench.crowds import gather_crowd
from pressbox.core.app import Resources
from pressbox.demo.simulators.notification_target import NotificationTarget
from tests.integration.web.events.conftest import NEXT_WEEK, state_of
from tests.site import ORIGIN


async def test_everybody_of_a_gathered_crowd_follows_and_has_the_chosen_reminders(
    organiser: httpx.AsyncClient, inbox: NotificationTarget, resources: Resources
) -> None:
    organiser.base_url = httpx.URL(f"{ORIGIN}/api/soonish")
    crowd = await gather_crowd(
        organiser,
        resources.database,
        start=NEXT_WEEK,
        url=inbox.apprise_url("inbox"),
        read_message=inbox.read_last,
        people=4,
        choose_offsets=lambda number: (60, 120 + number),
    )
    organiser.base_url = httpx.URL(ORIGIN)
    assert await state_of(organiser, crowd.slug) == ["active"] * 4
    assert [seconds for _, seconds in crowd.reminders] == [60, 120, 60, 121, 60, 122, 60, 123]
    assert len({subscription for subscription, _ in crowd.reminders}) == 4
