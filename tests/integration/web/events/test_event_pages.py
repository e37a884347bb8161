"""Pages and API of events on the real application: what people see, what strangers do not, what links may do."""

import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from icalendar import Calendar
from sqlalchemy import delete, select, update

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.rows import EventRow, NotificationRow, RecipientRow, SubscriptionRow
from pressbox.soonish.wiring import links
from tests.integration.soonish.conftest import claim
from tests.integration.web.events.conftest import FORM, NEXT_WEEK, TARGET, join, new_event, state_of


async def test_a_public_event_is_created_changed_and_seen_by_anybody(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser)
    page = (await stranger.get(f"/events/{slug}")).text
    assert "Summer party" in page
    assert f"{NEXT_WEEK.day} {NEXT_WEEK:%b} {NEXT_WEEK.year}, 18:30" in page
    assert "Europe/Berlin" in page
    edit = (await organiser.get(f"/events/{slug}/edit")).text
    assert f'value="{NEXT_WEEK:%Y-%m-%dT%H:%M}"' in edit
    changed = await organiser.post(f"/events/{slug}/edit", data=FORM | {"location": "Hall 3"})
    assert changed.status_code == 303
    assert "Hall 3" in (await stranger.get(f"/events/{slug}")).text
    for page in ("/events", f"/events/{slug}/board", f"/events/{slug}/cancel"):
        assert (await organiser.get(page)).status_code == 200


async def test_what_was_typed_stays_when_a_field_is_wrong(organiser: httpx.AsyncClient) -> None:
    answer = await organiser.post("/events/new", data=FORM | {"end_date": "2020-01-01T10:00"})
    assert answer.status_code == 422
    assert 'id="e-end_date"' in answer.text
    assert 'value="Hall 2"' in answer.text
    assert (await organiser.post("/events/new", data=FORM | {"start_date": "soon"})).status_code == 422
    assert (await organiser.post("/events/new", data=FORM | {"timezone": "Mars/Base"})).status_code == 422


async def test_a_private_event_is_not_there_without_its_invitation(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient, stranger: httpx.AsyncClient, inbox: NotificationTarget
) -> None:
    slug = await new_event(organiser, visibility="private")
    for client in (other, stranger):
        for path in (f"/events/{slug}", f"/events/{slug}?invitation=guess", f"/events/{slug}/calendar.ics"):
            assert (await client.get(path)).status_code == 404
        refused = await client.post(f"/events/{slug}/subscribe", data={"url": TARGET})
        assert refused.status_code == 404
    assert (await other.get(f"/events/{slug}/board")).status_code == 404
    assert (await other.get(f"/api/soonish/events/{slug}")).status_code == 404
    assert (await other.get(f"/api/soonish/events/{slug}/messages")).status_code == 404
    assert "Summer party" not in (await other.get("/events")).text
    made = await organiser.post(f"/events/{slug}/invitations")
    board = (await organiser.get(made.headers["location"])).text
    found = re.search(r"invitation=([\w-]+)<", board)
    assert found is not None
    assert "data-invitation" not in (await organiser.get(f"/events/{slug}/board")).text
    page = await stranger.get(f"/events/{slug}?invitation={found[1]}")
    assert page.status_code == 200
    await join(stranger, inbox, slug, invitation=found[1])
    invitations = (await organiser.get(f"/api/soonish/events/{slug}/invitations")).json()
    await organiser.post(f"/events/{slug}/invitations/{invitations[0]['id']}/revoke")
    assert (await stranger.get(f"/events/{slug}?invitation={found[1]}")).status_code == 404


@pytest.mark.parametrize("path", ["/events/{}/calendar.ics", "/api/soonish/events/{}/calendar.ics"])
async def test_a_calendar_hears_that_a_deleted_event_is_cancelled(organiser: httpx.AsyncClient, path: str) -> None:
    slug = await new_event(organiser)
    assert "STATUS:CONFIRMED" in (await organiser.get(path.format(slug))).text
    assert (await organiser.post(f"/events/{slug}/delete")).status_code == 303
    after = await organiser.get(path.format(slug))
    assert (after.status_code, "STATUS:CANCELLED" in after.text) == (200, True)


async def test_the_page_of_a_cancelled_event_does_not_say_that_what_has_yet_to_leave_has_arrived(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser)
    assert (await organiser.post(f"/events/{slug}/cancel")).status_code == 303
    page = (await stranger.get(f"/events/{slug}")).text
    assert "This event is cancelled." in page
    assert "have been told" not in page


async def test_a_guest_whose_address_cannot_be_reached_sees_the_form_and_why(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser)
    answer = await stranger.post(f"/events/{slug}/subscribe", data={"url": TARGET}, headers={"accept-language": "de"})
    assert answer.status_code == 503
    assert f'action="/events/{slug}/subscribe"' in answer.text
    assert "Versuche es später noch einmal." in answer.text


async def test_the_stream_does_not_tell_which_events_there_are(other: httpx.AsyncClient) -> None:
    for kind in ("soonish.event", "soonish.notification"):
        answer = await other.get(f"/api/stream?topics={kind}")
        assert answer.status_code == 422
        assert answer.json()["error"]["field"] == "topics"


async def test_somebody_elses_event_cannot_be_changed(organiser: httpx.AsyncClient, other: httpx.AsyncClient) -> None:
    slug = await new_event(organiser)
    for path in ("edit", "cancel", "delete", "board"):
        assert (await other.get(f"/events/{slug}/{path}")).status_code in (403, 404), path
    assert (await other.post(f"/events/{slug}/cancel")).status_code in (403, 404)
    assert (await other.post(f"/events/{slug}/board", data={"text": "x"})).status_code in (403, 404)
    assert (await other.patch(f"/api/soonish/events/{slug}", json={"name": "Mine"})).status_code in (403, 404)
    assert (await organiser.get(f"/api/soonish/events/{slug}")).json()["status"] == "active"


async def test_the_private_link_changes_mutes_reminds_and_leaves(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient, inbox: NotificationTarget
) -> None:
    slug = await new_event(organiser)
    manage = await join(stranger, inbox, slug, offset=["3600"], own_amount="25", own_unit="60")
    page = (await stranger.get(f"{manage}?done=subscribed")).text
    assert 'value="1500" checked' in page
    assert 'value="86400" checked' not in page
    assert f"{inbox.port}/inbox" not in page
    await stranger.post(manage, data={"offset": ["86400"]})
    assert 'value="86400" checked' in (await stranger.get(manage)).text
    wrong = await stranger.post(manage, data={"own_amount": "999999999", "own_unit": "86400"})
    assert wrong.status_code == 422
    await stranger.post(f"{manage}/mute")
    assert await state_of(organiser, slug) == ["muted"]
    await stranger.post(f"{manage}/unmute")
    assert (await stranger.post(f"{manage}/remind", data={"amount": "2", "unit": "3600"})).status_code == 303
    page = (await stranger.get(manage)).text
    taken = re.search(r'action="([^"]+/remind/\d+/cancel)"', page)
    assert taken is not None
    await stranger.post(taken[1])
    assert "/cancel" not in (await stranger.get(manage)).text
    await stranger.post(f"{manage}/leave")
    assert "You have unsubscribed" in (await stranger.get(manage)).text


async def test_a_link_that_was_not_made_here_opens_nothing(stranger: httpx.AsyncClient) -> None:
    for word in ("manage", "confirm", "unsubscribe", "why"):
        assert (await stranger.get(f"/events/{word}/1.AAAAAAAAAAAAAAAAAAAAAAAA")).status_code == 404
        assert (await stranger.post(f"/events/{word}/1.AAAAAAAAAAAAAAAAAAAAAAAA")).status_code in (404, 405)
    assert (await stranger.get("/events/calendar/1.AAAAAAAAAAAAAAAAAAAAAAAA.ics")).status_code == 404


async def test_a_scanner_that_opens_the_unsubscribe_link_changes_nothing_and_one_click_does(
    app: FastAPI,
    settings: Settings,
    organiser: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    inbox: NotificationTarget,
) -> None:
    slug = await new_event(organiser)
    await join(stranger, inbox, slug)
    number = (await organiser.get(f"/api/soonish/events/{slug}/subscriptions")).json()[0]["subscription_id"]
    path = httpx.URL(links(settings).unsubscribe_url(number)).path
    page = await stranger.get(path)
    assert "Unsubscribe?" in page.text
    assert 'content="noindex"' in page.text
    assert await state_of(organiser, slug) == ["active"]
    # A mail server: no cookies, no origin, the body that RFC 8058 asks for.
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8030") as server:
        answer = await server.post(path, data={"List-Unsubscribe": "One-Click"})
    assert answer.status_code == 200
    assert "active" not in await state_of(organiser, slug)
    assert "You are unsubscribed" in (await stranger.get(path)).text


async def test_channels_are_kept_without_ever_showing_their_address(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    secret = "json://user:hunter2@127.0.0.1:9/inbox"
    added = await other.post("/events/channels", data={"name": "phone", "url": secret, "tags": "me, urgent"})
    assert added.status_code == 303, added.text
    channel = (await other.get("/api/soonish/channels")).json()[0]
    assert channel["tags"] == ["me", "urgent"]
    page = (await other.get("/events/channels")).text
    assert "hunter2" not in page + str(channel)
    wrong = await other.post("/events/channels", data={"name": "phone", "url": "nonsense-hunter2"})
    assert wrong.status_code == 422
    assert "hunter2" not in wrong.text
    number = channel["id"]
    assert (await organiser.get(f"/events/channels/{number}")).status_code == 404
    assert (await organiser.post(f"/api/soonish/channels/{number}/test")).status_code == 404
    tested = await other.post(f"/events/channels/{number}/test", headers={"HX-Request": "true"})
    assert "It could not be delivered now" in tested.text
    changed = await other.patch(f"/api/soonish/channels/{number}", json={"is_active": False})
    assert changed.json()["is_active"] is False
    await other.post(f"/events/channels/{number}", data={"remove": "1"})
    assert (await other.get("/api/soonish/channels")).json() == []


async def test_a_member_subscribes_with_own_channels_and_not_with_those_of_others(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser)
    foreign = (await organiser.post("/api/soonish/channels", json={"name": "mine", "url": TARGET})).json()["id"]
    own = (await other.post("/api/soonish/channels", json={"name": "phone", "url": TARGET, "tags": ["me"]})).json()[
        "id"
    ]
    nothing = await other.post(f"/events/{slug}/subscribe", data={"offsets_asked": "1"})
    assert nothing.status_code == 422
    refused = await other.post(f"/events/{slug}/subscribe", data={"channel": [foreign], "offsets_asked": "1"})
    assert refused.status_code in (404, 422)
    answer = await other.post(f"/events/{slug}/subscribe", data={"channel": [own], "tag": ["me"], "offsets_asked": "1"})
    assert answer.status_code == 303
    found = (await other.get("/api/soonish/subscriptions")).json()[0]
    assert (found["channel_ids"], found["tags"], found["offsets"], found["default_offsets"]) == (
        [own],
        ["me"],
        [],
        False,
    )
    assert "You are subscribed" in (await other.get(f"/events/{slug}")).text
    reset = await other.patch(f"/api/soonish/subscriptions/{found['id']}", json={"offsets": None})
    assert reset.json()["default_offsets"] is True
    assert (await organiser.get(f"/events/subscriptions/{found['id']}")).status_code == 404
    assert (await other.get("/events/subscriptions")).status_code == 200
    assert (await other.delete(f"/api/soonish/subscriptions/{found['id']}")).status_code == 204


async def test_an_announcement_is_previewed_accepted_once_and_shown_with_its_ledger(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient, inbox: NotificationTarget
) -> None:
    slug = await new_event(organiser)
    await join(stranger, inbox, slug)
    reach = await organiser.get(f"/events/{slug}/board/reach?to=all")
    assert "<b>1</b>" in reach.text
    assert "reaches nobody" in (await organiser.get(f"/events/{slug}/board/reach?to=some")).text
    form = {"title": "New room", "text": "Hall 3.", "level": "warning", "to": "all", "key": "once"}
    for _ in range(2):
        assert (await organiser.post(f"/events/{slug}/board", data=form)).status_code == 303
    messages = (await organiser.get(f"/api/soonish/events/{slug}/messages")).json()
    announced = [message for message in messages if message["cause"] == "announcement"]
    assert len(announced) == 1
    board = (await organiser.get(f"/events/{slug}/board")).text
    assert f"soonish.notification:{announced[0]['id']}" in board
    assert (await organiser.get(f"/events/{slug}/board/messages/{announced[0]['id']}")).status_code == 200
    deliveries = await organiser.get(f"/api/soonish/deliveries?message_id={announced[0]['id']}")
    assert deliveries.status_code == 200
    nobody = await organiser.post(f"/events/{slug}/board", data=form | {"to": "some", "key": "two"})
    assert nobody.status_code == 422
    assert "Hall 3." in nobody.text
    empty = await organiser.post(f"/api/soonish/events/{slug}/announce", json={"text": " "})
    assert empty.json()["error"]["field"] == "text"


async def test_a_calendar_keeps_its_uid_and_its_sequence_rises(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient, resources: Resources
) -> None:
    slug = await new_event(organiser)

    async def read(client: httpx.AsyncClient, path: str) -> Any:
        answer = await client.get(path)
        assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
        return Calendar.from_ical(answer.content).walk("VEVENT")[0]

    path = f"/events/{slug}/calendar.ics"
    first = await read(stranger, path)
    assert first["SUMMARY"] == "Summer party"
    assert first["LOCATION"] == "Hall 2"
    assert first["STATUS"] == "CONFIRMED"
    start = first.decoded("DTSTART")
    await organiser.patch(f"/api/soonish/events/{slug}", json={"start_date": (start + timedelta(hours=1)).isoformat()})
    moved = await read(stranger, path)
    assert moved["UID"] == first["UID"]
    assert int(moved["SEQUENCE"]) > int(first["SEQUENCE"])
    assert moved.decoded("DTSTART") == start + timedelta(hours=1)
    await organiser.post("/events/calendar")
    found = re.search(r'href="[^"]*(/events/calendar/[^"]+\.ics)"', (await organiser.get("/events")).text)
    assert found is not None
    await organiser.post(f"/events/{slug}/cancel")
    cancelled = await read(stranger, found[1])
    assert cancelled["STATUS"] == "CANCELLED"
    assert cancelled["UID"] == first["UID"]
    assert int(cancelled["SEQUENCE"]) > int(moved["SEQUENCE"])
    assert "This event is cancelled." in (await stranger.get(f"/events/{slug}")).text
    async with resources.database.unit_of_work() as work:
        await work.session.execute(update(EventRow).values(status="completed"))
    assert "This event is over." in (await stranger.get(f"/events/{slug}")).text


async def test_the_api_names_the_wrong_field_and_writes_nothing(organiser: httpx.AsyncClient) -> None:
    body = {"name": "A", "start_date": NEXT_WEEK.isoformat(), "timezone": "Europe/Berlin"}
    for change, field in (
        ({"name": " "}, "name"),
        ({"timezone": "Mars/Base"}, "timezone"),
        ({"end_date": "2020-01-01T00:00:00Z"}, "end_date"),
        ({"start_date": "soon"}, "start_date"),
        ({"visibility": "secret"}, "visibility"),
        ({"colour": "green"}, "colour"),
    ):
        answer = await organiser.post("/api/soonish/events", json=body | change)
        assert answer.status_code == 422, change
        assert answer.json()["error"]["field"] == field
    assert (await organiser.get("/api/soonish/events")).json()["organised"] == []
    assert (await organiser.post("/api/soonish/events", json=body)).status_code == 201


async def test_a_draft_is_seen_by_its_organiser_only_until_it_is_active(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser, draft="1")
    assert "This is a draft." in (await organiser.get(f"/events/{slug}/board")).text
    assert (await stranger.get(f"/events/{slug}")).status_code == 404
    assert (await organiser.post(f"/events/{slug}/publish")).status_code == 303
    assert (await stranger.get(f"/events/{slug}")).status_code == 200
    done = await organiser.post(f"/api/soonish/events/{slug}/complete")
    assert done.json()["status"] == "completed"


async def test_a_subscription_is_muted_reminded_and_left_over_the_api(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient, inbox: NotificationTarget
) -> None:
    slug = await new_event(organiser)
    follow = {"url": inbox.apprise_url("inbox"), "offsets": [60]}
    joined = await other.post(f"/api/soonish/events/{slug}/subscriptions", json=follow)
    assert (joined.status_code, joined.json()) == (201, {"state": "pending", "subscription": None})
    assert await state_of(organiser, slug) == [], "nobody follows before the address has confirmed itself"
    own = (await other.post("/api/soonish/channels", json={"name": "phone", "url": TARGET})).json()["id"]
    made = await other.post(f"/api/soonish/events/{slug}/subscriptions", json={"channel_ids": [own]})
    path = f"/api/soonish/subscriptions/{made.json()['subscription']['id']}"
    assert (await other.post(f"{path}/mute")).json()["state"] == "muted"
    assert (await other.post(f"{path}/unmute")).json()["state"] == "active"
    wrong = await other.post(f"{path}/reminders", json={"delay_seconds": -5})
    assert wrong.json()["error"]["field"] == "delay_seconds"
    reminder = await other.post(f"{path}/reminders", json={"delay_seconds": 7200})
    assert reminder.status_code == 201
    assert (await other.delete(f"{path}/reminders/{reminder.json()['id']}")).status_code == 204
    assert b"Summer party" in (await other.get("/api/soonish/calendar.ics")).content
    assert (await organiser.get(path)).status_code == 404
    assert (await other.delete(path)).status_code == 204


async def test_too_many_subscriptions_from_one_address_are_refused_for_a_while(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser)
    answers = [(await stranger.post(f"/events/{slug}/subscribe", data={"url": "x"})).status_code for _ in range(31)]
    assert answers[:30] == [422] * 30
    assert answers[30] == 429


async def test_an_event_is_deleted_and_gone_for_everybody(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser)
    assert (await organiser.post(f"/events/{slug}/delete")).status_code == 303
    assert (await stranger.get(f"/events/{slug}")).status_code == 404
    assert (await organiser.get(f"/events/{slug}/board")).status_code == 404


@pytest.mark.parametrize("name", ["Summer\nparty", "Summer\r\nBEGIN:VEVENT", "Summer\x0bparty", "Summer\u2028party"])
async def test_a_name_of_several_lines_is_refused_and_an_older_one_breaks_no_calendar(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient, resources: Resources, name: str
) -> None:
    refused = await organiser.post("/events/new", data=FORM | {"name": name})
    assert refused.status_code == 422
    wrong = await organiser.post("/api/soonish/events", json=FORM | {"name": name})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "name")
    slug = await new_event(organiser)
    async with resources.database.unit_of_work() as work:
        odd = {"name": name, "location": name, "description": f"{name}\r\n\x07"}
        await work.session.execute(update(EventRow).where(EventRow.slug == slug).values(odd))
    answer = await stranger.get(f"/events/{slug}/calendar.ics")
    assert answer.status_code == 200
    (entry,) = Calendar.from_ical(answer.content).walk("VEVENT")
    assert str(entry["SUMMARY"]).startswith("Summer")
    assert b"\x07" not in answer.content


async def test_the_feed_of_a_deleted_event_says_that_it_is_cancelled(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug, hidden = await new_event(organiser), await new_event(organiser, visibility="private")
    draft = await new_event(organiser, draft="1")
    for event in (slug, hidden, draft):
        assert (await organiser.post(f"/events/{event}/delete")).status_code == 303
    feed = await stranger.get(f"/events/{slug}/calendar.ics")
    (entry,) = Calendar.from_ical(feed.content).walk("VEVENT")
    assert (entry["STATUS"], entry["SEQUENCE"]) == ("CANCELLED", 2)
    own = Calendar.from_ical((await organiser.get("/api/soonish/calendar.ics")).content)
    assert {str(entry["STATUS"]) for entry in own.walk("VEVENT")} == {"CANCELLED"}
    for event in (hidden, draft):
        assert (await stranger.get(f"/events/{event}/calendar.ics")).status_code == 404
    assert (await stranger.get(f"/events/{slug}")).status_code == 404


async def test_who_subscribes_is_written_to_in_their_language_and_time_zone(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient, inbox: NotificationTarget, resources: Resources
) -> None:
    slug = await new_event(organiser, location="https://meet.example.org/room?a=1")
    stranger.headers["accept-language"] = "de-AT,de;q=0.9"
    stranger.cookies.set("pressbox_zone", "Asia/Tokyo")
    await join(stranger, inbox, slug)
    assert inbox.of("inbox")[-1].title == "Bestätige: Summer party"
    async with resources.database.unit_of_work() as work:
        row = (await work.session.scalars(select(SubscriptionRow).where(SubscriptionRow.contact_id.is_not(None)))).one()
        assert (row.language, row.timezone) == ("de", "Asia/Tokyo")
    page = (await stranger.get(f"/events/{slug}")).text
    assert '<a href="https://meet.example.org/room?a=1" rel=' in page


async def test_who_subscribes_through_the_api_names_language_and_time_zone(
    organiser: httpx.AsyncClient, inbox: NotificationTarget, resources: Resources
) -> None:
    slug = await new_event(organiser)
    path, guest = f"/api/soonish/events/{slug}/subscriptions", {"url": inbox.apprise_url("inbox"), "language": "de"}
    for unknown in ({"timezone": "Mars/Base"}, {"language": "tlh"}):
        refused = await organiser.post(path, json=guest | unknown)
        assert (refused.status_code, refused.json()["error"]["field"]) == (422, next(iter(unknown)))
    assert (await organiser.post(path, json=guest | {"timezone": "Asia/Tokyo"})).status_code == 201
    async with resources.database.unit_of_work() as work:
        row = (await work.session.scalars(select(SubscriptionRow).where(SubscriptionRow.contact_id.is_not(None)))).one()
        assert (row.language, row.timezone) == ("de", "Asia/Tokyo")


async def test_the_page_that_says_why_mutes_and_unmutes(
    organiser: httpx.AsyncClient, stranger: httpx.AsyncClient, inbox: NotificationTarget, resources: Resources
) -> None:
    slug = await new_event(organiser)
    await join(stranger, inbox, slug)
    await organiser.post(f"/events/{slug}/board", data={"text": "Hall 3.", "level": "info", "to": "all"})
    ledger = SqlLedger(resources.database)
    async with resources.database.unit_of_work() as work:
        announced = NotificationRow.cause == "announcement"
        number = (await work.session.scalars(select(NotificationRow.id).where(announced))).one()
    await ledger.open_batch(number, 0, 10)
    (due,) = await claim(resources.database, number)
    path = httpx.URL(links(resources.settings).why_url(due.delivery_id)).path
    assert (await stranger.post(f"{path}/mute")).status_code == 303
    assert await state_of(organiser, slug) == ["muted"]
    assert f'action="{path}/unmute"' in (await stranger.get(path)).text
    assert (await stranger.post(f"{path}/unmute")).status_code == 303
    assert await state_of(organiser, slug) == ["active"]


async def test_the_board_gives_the_address_to_share_also_for_cameras(organiser: httpx.AsyncClient) -> None:
    slug = await new_event(organiser)
    board = (await organiser.get(f"/events/{slug}/board")).text
    assert re.search(rf'<code[^>]* id="public-address">[^<]*/events/{slug}</code>', board)
    assert 'data-copy="public-address"' in board
    assert 'src="data:image/svg+xml' in board
    await organiser.patch(f"/api/soonish/events/{slug}", json={"visibility": "private"})
    assert "public-address" not in (await organiser.get(f"/events/{slug}/board")).text


async def test_a_message_to_nobody_is_not_called_sent(organiser: httpx.AsyncClient, resources: Resources) -> None:
    slug = await new_event(organiser)
    form = {"title": "New room", "text": "Hall 3.", "level": "info", "to": "all", "key": "k"}
    answer = await organiser.post(f"/events/{slug}/board", data=form)
    board = (await organiser.get(answer.headers["location"])).text
    assert "Your message was accepted." in board
    assert "is being sent." not in board, "nobody knows when the page is read"
    async with resources.database.unit_of_work() as work:
        await work.session.execute(delete(RecipientRow))
        await work.session.execute(update(NotificationRow).values(finished_at=utc_now()))
    board = (await organiser.get(f"/events/{slug}/board")).text
    assert "reached nobody" in board
    assert "sent 0" not in " ".join(board.split())


async def test_messages_of_ours_are_named_in_the_language_of_the_board(organiser: httpx.AsyncClient) -> None:
    slug = await new_event(organiser)
    form = {"title": "Event cancelled: not really", "text": "Hall 3.", "level": "info", "to": "all", "key": "k"}
    await organiser.post(f"/events/{slug}/board", data=form)
    await organiser.post(f"/events/{slug}/cancel")
    german = {"Accept": "text/html", "Accept-Language": "de"}
    board = (await organiser.get(f"/events/{slug}/board", headers=german)).text
    assert "Termin abgesagt: Summer party" in board
    assert '<span class="badge hot">abgesagt</span>' in board
    assert "abgebrochen" not in board
