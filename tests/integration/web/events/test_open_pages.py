"""What people without an account find: a public agenda, and every service with its own fields."""

import re

import httpx
from icalendar import Calendar

from pressbox.demo.simulators.notification_target import NotificationTarget
from tests.integration.web.events.conftest import new_event, state_of


async def test_the_agenda_shows_strangers_only_what_organisers_list(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    assert "Nothing is coming up." in (await stranger.get("/events/agenda")).text
    listed = await new_event(organiser, name="Open day", visibility="listed")
    await new_event(organiser, name="Quiet dinner")
    await new_event(organiser, name="Board meeting", visibility="private")
    draft = await new_event(organiser, name="Unsure", visibility="listed", draft="1")
    await organiser.post(f"/events/{draft}/cancel")
    page = await stranger.get("/events/agenda")
    assert page.status_code == 200
    assert "Open day" in page.text
    assert not {name for name in ("Quiet dinner", "Board meeting", "Unsure") if name in page.text}
    assert (await stranger.get(f"/events/{listed}")).status_code == 200

    await organiser.post(f"/events/{listed}/cancel")
    feed = await stranger.get("/events/agenda.ics")
    (entry,) = Calendar.from_ical(feed.content).walk("VEVENT")
    assert (entry["SUMMARY"], entry["STATUS"]) == ("Open day", "CANCELLED")
    again = await organiser.post(f"/events/{listed}/reopen")
    assert again.headers["location"].endswith("done=reopened")
    (entry,) = Calendar.from_ical((await stranger.get("/events/agenda.ics")).content).walk("VEVENT")
    assert (entry["STATUS"], entry["SEQUENCE"]) == ("CONFIRMED", 3)


async def test_a_guest_fills_in_the_fields_of_a_service_and_confirms_before_anything_else_is_sent(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient, inbox: NotificationTarget
) -> None:
    slug = await new_event(organiser)
    page = (await stranger.get(f"/events/{slug}")).text
    for name in ("ntfy", "Telegram", "Slack", "Discord", "Apprise, for experts"):
        assert f">{name}</a>" in re.sub(r"\s+", " ", page).replace("> ", ">").replace(" <", "<")
    assert "Bot token" in (await stranger.get(f"/events/{slug}?service=telegram")).text
    where = f"/events/{slug}/subscribe"
    wrong = await stranger.post(where, data={"service": "telegram", "one": "hunter2", "two": "1"})
    assert (wrong.status_code, 'id="e-one"' in wrong.text, "hunter2" in wrong.text) == (422, True, False)
    for trick in ("?email=victim@example.org", "?to=victim"):
        stolen = await stranger.post(where, data={"service": "ntfy", "one": f"topic{trick}"})
        assert stolen.status_code == 422
        stolen = await stranger.post(where, data={"service": "apprise", "url": f"ntfy://ntfy.sh/topic{trick}"})
        assert stolen.status_code == 422
    stolen = await stranger.post(
        where, data={"service": "apprise", "url": "mailto://u:p@mx.example.org?to=victim@example.org"}
    )
    assert stolen.status_code == 422
    assert inbox.received == []

    address = f"http://127.0.0.1:{inbox.port}/inbox"
    asked = await stranger.post(where, data={"service": "webhook", "one": address, "offsets_asked": "1"})
    assert "done=message" in asked.headers["location"]
    assert await state_of(organiser, slug) == [], "nobody is subscribed before the link is followed"
    link = re.search(r"http\S+/events/confirm/\S+", inbox.of("inbox")[-1].body)
    assert link is not None
    assert (await stranger.post(httpx.URL(link[0]).path)).status_code == 303
    assert await state_of(organiser, slug) == ["active"]
