"""The page of a message: a failure is named, and can be sent again by its organiser only."""

import re

import httpx
from sqlalchemy import insert, select, update

from pressbox.core.app import Resources
from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish.adapters.rows import DeliveryRow, NotificationRow, SubscriptionRow
from tests.integration.web.events.conftest import join, new_event


async def fail_message(resources: Resources, state: DeliveryState) -> int:
    """Write the last message's only delivery as a broadcast would have left it; returns the delivery's id."""
    async with resources.database.unit_of_work() as work:
        message = (await work.session.scalars(select(NotificationRow).order_by(NotificationRow.id.desc()))).first()
        person = (await work.session.scalars(select(SubscriptionRow).where(SubscriptionRow.contact_id > 0))).one()
        assert message is not None
        values = {
            "notification_id": message.id,
            "event_id": message.event_id,
            "subscription_id": person.id,
            "cause": message.cause,
            "version": message.version,
            "channel_key": f"contact:{person.contact_id}",
            "state": state,
            "reason": "it answered with an error (500)",
            "tries": 3,
        }
        delivery = await work.session.scalar(insert(DeliveryRow).values(**values).returning(DeliveryRow.id))
        assert delivery is not None
        finished = update(NotificationRow).where(NotificationRow.id == message.id)
        await work.session.execute(finished.values(finished_at=message.created_at))
        return delivery


async def test_a_failed_delivery_is_named_and_sent_again_from_its_page(
    organiser: httpx.AsyncClient,
    other: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    inbox: NotificationTarget,
    resources: Resources,
) -> None:
    slug = await new_event(organiser)
    await join(stranger, inbox, slug)
    sent = await organiser.post(f"/api/soonish/events/{slug}/announce", json={"text": "Doors at 7"})
    path = f"/events/{slug}/board/messages/{sent.json()['id']}"
    delivery = await fail_message(resources, DeliveryState.UNCERTAIN)

    page = (await organiser.get(path)).text
    assert "not delivered to everybody" in page
    ask = re.search(rf'href="({path}/resend\?delivery={delivery})"', page)
    assert ask is not None, "what may have arrived asks first"
    asked = (await organiser.get(ask[1])).text
    assert "a second time" in asked
    unasked = await organiser.post(f"{path}/resend", data={"delivery": delivery})
    assert (unasked.status_code, "only when you confirm" in unasked.text) == (409, True)

    assert (await other.post(f"{path}/resend", data={"with_uncertain": "1"})).status_code == 404
    assert (await stranger.post(f"{path}/resend", data={"with_uncertain": "1"})).status_code in (303, 401, 403)
    again = await organiser.post(f"{path}/resend", data={"delivery": delivery, "with_uncertain": "1"})
    assert again.headers["location"] == f"{path}?done=resent"
    twice = await organiser.post(f"{path}/resend", data={"delivery": delivery, "with_uncertain": "1"})
    assert (twice.status_code, "still being sent" in twice.text) == (409, True)
    listed = (await organiser.get(f"/api/soonish/events/{slug}/messages")).json()
    assert listed[0]["state"] == "sending"
