"""Follow an organiser from a public event, and mute and leave events on the page of what one follows."""

import httpx
import pytest
from sqlalchemy import select

from pressbox.core.accounts.models import User
from pressbox.core.db.database import Database
from pressbox.core.notices.rows import NoticeSendRow
from pressbox.delivery.push.rows import PushSubscriptionRow
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.rows import NotificationRow
from tests.integration.web.events.conftest import FORM, new_event

OFFER = "Tell me of new events by Olga"
CHANNEL = {"name": "phone", "url": "json://127.0.0.1:9/inbox"}


@pytest.fixture
async def organiser(organiser: httpx.AsyncClient) -> httpx.AsyncClient:
    await organiser.post("/account/profile", data={"display_name": "Olga", "language": ""})
    return organiser


async def subscribe(client: httpx.AsyncClient, slug: str) -> int:
    """Subscribe with a channel of one's own; gives the number of the subscription."""
    await client.post("/events/channels", data=CHANNEL)
    [channel] = (await client.get("/api/soonish/channels")).json()
    answer = await client.post(f"/events/{slug}/subscribe", data={"channel": channel["id"], "offsets_asked": "1"})
    assert answer.status_code == 303, answer.text
    return int(answer.headers["location"].split("/")[3].split("?")[0])


async def announce(organiser: httpx.AsyncClient, database: Database, slug: str) -> None:
    """Send something to all subscribers, as far as the inbox and the queues."""
    answer = await organiser.post(
        f"/api/soonish/events/{slug}/announce", json={"title": "Room change", "text": "Hall 3"}
    )
    assert answer.status_code == 202, answer.text
    async with database.unit_of_work() as work:
        newest = await work.session.scalar(select(NotificationRow.id).order_by(NotificationRow.id.desc()).limit(1))
    assert newest is not None
    await SqlLedger(database).open_batch(newest, 0, 500)


async def test_only_another_person_with_an_account_can_follow_the_organiser_of_a_public_event(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    slug, private = await new_event(organiser), await new_event(organiser, visibility="private")
    assert OFFER in (await other.get(f"/events/{slug}")).text
    for client in (organiser, stranger):
        assert OFFER not in (await client.get(f"/events/{slug}")).text
    assert (await stranger.post(f"/events/{slug}/organiser/follow")).status_code in (303, 401)
    for path in (f"/events/{private}/organiser/follow", f"/events/{private}/organiser/unfollow"):
        assert (await other.post(path)).status_code == 404
    assert (await other.put(f"/api/soonish/events/{private}/organiser")).status_code == 404
    for _ in range(2):
        assert (await other.post(f"/events/{slug}/organiser/follow")).status_code == 303
    page = (await other.get(f"/events/{slug}")).text
    assert OFFER not in page
    assert "Unfollow Olga" in page
    assert ">Olga</a>" in (await other.get("/follows")).text
    await other.delete(f"/api/soonish/events/{slug}/organiser")
    assert (await other.get("/api/follows")).json() == []


async def test_a_private_event_shows_nothing_of_an_organiser_to_follow(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser, visibility="private")
    token = (await organiser.post(f"/api/soonish/events/{slug}/invitations")).json()["token"]
    page = await other.get(f"/events/{slug}?invitation={token}")
    assert page.status_code == 200
    assert OFFER not in page.text


async def test_the_organiser_sees_nowhere_who_follows(organiser: httpx.AsyncClient, other: httpx.AsyncClient) -> None:
    slug = await new_event(organiser)
    paths = (f"/events/{slug}", f"/events/{slug}/board", f"/events/{slug}/subscribers", "/events", "/inbox", "/follows")
    before = [len((await organiser.get(path)).text) for path in paths[3:]]
    await other.post(f"/events/{slug}/organiser/follow")
    for path in paths:
        assert "member@example.org" not in (await organiser.get(path)).text, path
    assert [len((await organiser.get(path)).text) for path in paths[3:]] == before
    assert (await organiser.get(f"/api/soonish/events/{slug}/subscriptions")).json() == []


async def test_a_new_event_is_in_the_inbox_in_both_languages_and_says_why(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    await other.post(f"/events/{await new_event(organiser)}/organiser/follow")
    await new_event(organiser, name="Autumn ball")
    page = (await other.get("/inbox")).text
    assert "New event by Olga: Autumn ball" in page
    assert "because you follow Olga" in page
    assert "Neuer Termin von Olga: Autumn ball" in (await other.get("/inbox", headers={"Accept-Language": "de"})).text
    assert "Autumn ball" not in (await organiser.get("/inbox")).text


async def test_events_stand_on_the_page_of_what_one_follows_until_one_leaves(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    slug = await new_event(organiser)
    number = await subscribe(other, slug)
    assert "Mute Summer party" in (await other.get("/follows")).text
    assert "Summer party" not in (await organiser.get("/follows")).text
    back = {"next": "/follows#events"}
    for _ in range(2):
        muted = await other.post(f"/events/subscriptions/{number}/mute", data=back)
        assert muted.headers["location"] == "/follows#events"
    assert "Unmute Summer party" in (await other.get("/follows")).text
    assert (await other.get(f"/api/soonish/subscriptions/{number}")).json()["state"] == "muted"
    assert (await organiser.post(f"/events/subscriptions/{number}/unmute", data=back)).status_code == 404
    await other.post(f"/events/subscriptions/{number}/unmute", data=back)
    assert (await other.get(f"/api/soonish/subscriptions/{number}")).json()["state"] == "active"
    for _ in range(2):
        left = await other.post(f"/events/subscriptions/{number}/leave", data=back)
        assert left.headers["location"] == "/follows#events"
    assert "Summer party" not in (await other.get("/follows")).text
    foreign = await other.post(f"/events/subscriptions/{number}/leave", data={"next": "https://evil.example.org"})
    assert foreign.headers["location"] == "/events/subscriptions"


async def test_a_message_of_an_event_says_why_and_is_muted_and_unmuted_in_the_inbox(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient, database: Database
) -> None:
    slug = await new_event(organiser)
    number = await subscribe(other, slug)
    await announce(organiser, database, slug)
    page = (await other.get("/inbox")).text
    assert "You subscribed to this event." in page
    assert "Mute Summer party" in page
    [line] = (await other.get("/api/inbox")).json()["notices"]
    next = f"/inbox?muted={line['because_subject']}"
    answer = await other.post(f"/events/subscriptions/{number}/mute", data={"next": next})
    undo = (await other.get(answer.headers["location"])).text
    assert "Summer party is muted" in undo
    assert ">Undo</button>" in undo
    assert f'action="/events/subscriptions/{number}/unmute"' in undo
    await announce(organiser, database, slug)
    assert len((await other.get("/api/inbox")).json()["notices"]) == 1
    await other.post(f"/events/subscriptions/{number}/unmute", data={"next": "/inbox"})
    assert "Mute Summer party" in (await other.get("/inbox")).text


async def test_mute_of_an_event_also_silences_what_waits_to_go_to_a_browser(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient, member: User, database: Database
) -> None:
    slug = await new_event(organiser)
    number = await subscribe(other, slug)
    async with database.unit_of_work() as work:
        browser = {"endpoint_hash": b"1", "sealed": b"1", "host": "push.example.org", "name": "Phone", "language": "en"}
        work.session.add(PushSubscriptionRow(user_id=member.id, **browser))
    await announce(organiser, database, slug)
    assert await queued(database) == [("pending", "")]
    await other.post(f"/events/subscriptions/{number}/mute")
    assert await queued(database) == [("skipped", "muted")]


async def queued(database: Database) -> list[tuple[str, str]]:
    async with database.unit_of_work() as work:
        rows = await work.session.execute(select(NoticeSendRow.state, NoticeSendRow.reason))
        return [(state, reason) for state, reason in rows]


async def test_an_event_that_is_over_asks_for_nothing_more(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient, database: Database
) -> None:
    slug = await new_event(organiser)
    await subscribe(other, slug)
    await announce(organiser, database, slug)
    await organiser.post(f"/events/{slug}/cancel")
    assert "Summer party" not in (await other.get("/follows")).text
    page = (await other.get("/inbox")).text
    assert "You subscribed to this event." in page
    assert "Mute Summer party" not in page
    assert FORM["name"] in page
