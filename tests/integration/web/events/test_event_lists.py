"""Lists in a useful order, subscriptions that keep their channels, and calendars to subscribe to."""

import re
from datetime import timedelta

import httpx
from sqlalchemy import update

from pressbox.core.app import Resources
from pressbox.soonish.adapters.rows import RequestedReminderRow
from tests.integration.web.events.conftest import NEXT_WEEK, TARGET, new_event


async def add_channel(client: httpx.AsyncClient, name: str) -> int:
    added = await client.post("/api/soonish/channels", json={"name": name, "url": f"{TARGET}/{name}"})
    assert added.status_code == 201, added.text
    return int(added.json()["id"])


async def subscribe(client: httpx.AsyncClient, slug: str, *channels: int) -> str:
    joined = await client.post(f"/events/{slug}/subscribe", data={"channel": channels, "offsets_asked": "1"})
    assert joined.status_code == 303, joined.text
    return httpx.URL(joined.headers["location"]).path


async def test_what_comes_next_is_first_and_what_is_past_is_folded(organiser: httpx.AsyncClient) -> None:
    later = f"{NEXT_WEEK + timedelta(days=30):%Y-%m-%dT%H:%M}"
    await new_event(organiser, name="Later", start_date=later)
    gone = await new_event(organiser, name="Gone")
    await new_event(organiser, name="Soon")
    await organiser.post(f"/events/{gone}/cancel")
    page = (await organiser.get("/events")).text
    assert page.index(">Soon<") < page.index(">Later<") < page.index("1 past or cancelled event") < page.index(">Gone<")
    listed = (await organiser.get("/api/soonish/events")).json()["organised"]
    assert [event["name"] for event in listed] == ["Soon", "Later", "Gone"]


async def test_a_channel_that_is_switched_off_stays_in_the_subscription(organiser: httpx.AsyncClient) -> None:
    slug = await new_event(organiser)
    phone, desk = await add_channel(organiser, "phone"), await add_channel(organiser, "desk")
    path = await subscribe(organiser, slug, phone, desk)
    await organiser.patch(f"/api/soonish/channels/{desk}", json={"is_active": False})
    page = (await organiser.get(path)).text
    assert "desk" in page
    assert "disabled" not in page
    assert (await organiser.post(path, data={"channel": [phone, desk]})).status_code == 303
    number = path.rpartition("/")[2]
    kept = (await organiser.get(f"/api/soonish/subscriptions/{number}")).json()
    assert kept["channel_ids"] == [phone, desk]


async def test_an_empty_choice_is_refused_with_a_reason(organiser: httpx.AsyncClient) -> None:
    slug = await new_event(organiser)
    path = await subscribe(organiser, slug, await add_channel(organiser, "phone"))
    refused = await organiser.post(path, data={"channels_asked": "1"})
    assert refused.status_code == 422
    assert "Choose at least one channel or tag" in refused.text
    number = path.rpartition("/")[2]
    wrong = await organiser.patch(f"/api/soonish/subscriptions/{number}", json={"channel_ids": [], "tags": []})
    assert wrong.json()["error"]["field"] == "channel_ids"


async def test_a_reminder_that_has_fired_cannot_be_taken_back(
    organiser: httpx.AsyncClient, resources: Resources
) -> None:
    slug = await new_event(organiser)
    path = await subscribe(organiser, slug, await add_channel(organiser, "phone"))
    await organiser.post(f"{path}/remind", data={"amount": "2", "unit": "3600"})
    assert "/cancel" in (await organiser.get(path)).text
    async with resources.database.unit_of_work() as work:
        await work.session.execute(update(RequestedReminderRow).values(outcome="sent"))
    assert "/cancel" not in (await organiser.get(path)).text


async def test_a_calendar_is_subscribed_to_or_downloaded_and_each_says_what_it_is(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug, hidden = await new_event(organiser), await new_event(organiser, visibility="private")
    page = (await stranger.get(f"/events/{slug}")).text
    assert re.search(rf'href="webcal://[^/"]+/events/{slug}/calendar\.ics"', page)
    assert "A copy that does not change later." in page
    # A calendar program cannot sign in.
    assert "webcal://" not in (await organiser.get(f"/events/{hidden}")).text
    await organiser.post("/events/calendar")
    assert "webcal://" in (await organiser.get("/events")).text
