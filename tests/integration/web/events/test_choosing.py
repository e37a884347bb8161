"""Choosing the recipients of a message among more people than fit on a page, without scripts."""

import re

import httpx
from sqlalchemy import text

from pressbox.core.app import Resources
from tests.integration.web.events.conftest import new_event

PEOPLE = 650
_CROWD = text("""
    WITH contact AS (
        INSERT INTO soonish.contacts (kind, encrypted_address, key_id, target, shown, verified_at)
        SELECT 'json', '', 'k', sha256(convert_to('crowd ' || number, 'UTF8')), 'Guest ' || number, now()
        FROM generate_series(1, :people) AS number
        RETURNING id
    )
    INSERT INTO soonish.subscriptions (event_id, contact_id, state)
    SELECT event.id, contact.id, 'active' FROM contact, soonish.events AS event WHERE event.slug = :slug
    RETURNING id
""")
_RECIPIENTS = text("""
    SELECT recipient.subscription_id FROM soonish.notification_recipients AS recipient
    JOIN soonish.notifications AS message ON message.id = recipient.notification_id
    WHERE message.cause = 'announcement'
""")


def boxes(page: str, *, checked: bool = False) -> list[int]:
    """The people who are offered, or those of them who are chosen."""
    found = re.findall(r'<input\s+type="checkbox"\s+name="subscription"\s+value="(\d+)"(\s+checked)?', page)
    hidden = re.findall(r'<input\s+type="hidden"\s+name="subscription"\s+value="(\d+)"', page)
    return [int(number) for number, mark in found if mark or not checked] + [int(number) for number in hidden]


async def test_everybody_of_a_large_event_can_be_chosen(organiser: httpx.AsyncClient, resources: Resources) -> None:
    slug = await new_event(organiser)
    async with resources.database.unit_of_work() as work:
        people = sorted(await work.session.scalars(_CROWD, {"people": PEOPLE, "slug": slug}))
    path = f"/events/{slug}/board"
    page = (await organiser.get(path)).text
    form = {"text": "Hall 3.", "title": "", "level": "info", "to": "some", "find": ""}
    chosen = boxes(page)
    assert chosen == people[:200]
    for _ in range(3):
        (after,) = re.findall(r'name="choose"\s+value="(\d+)"', page)
        page = (await organiser.post(path, data={**form, "subscription": chosen, "choose": after})).text
        assert "Hall 3." in page, "what was typed stays"
        assert sorted(boxes(page, checked=True)) == chosen, "so does who was chosen"
        chosen = sorted(boxes(page))
    assert chosen == people
    assert not re.findall(r'name="choose"\s+value="\d+"', page), "this was the last page"
    sent = await organiser.post(path, data={**form, "subscription": chosen})
    assert sent.status_code == 303
    async with resources.database.unit_of_work() as work:
        assert sorted(await work.session.scalars(_RECIPIENTS)) == people


async def test_somebody_is_found_by_name_and_the_others_stay_chosen(
    organiser: httpx.AsyncClient, resources: Resources
) -> None:
    slug = await new_event(organiser)
    async with resources.database.unit_of_work() as work:
        people = sorted(await work.session.scalars(_CROWD, {"people": PEOPLE, "slug": slug}))
    form = {"text": "Hall 3.", "to": "some", "subscription": people[:2], "find": "guest 64", "choose": "find"}
    page = (await organiser.post(f"/events/{slug}/board", data=form)).text
    assert boxes(page, checked=True) == people[:2]
    names = re.findall(r">\s*(Guest \d+)<", page)
    assert {"Guest 64", "Guest 640", "Guest 649"} <= set(names)
    assert "Guest 630" not in names
    nobody = (await organiser.post(f"/events/{slug}/board", data={**form, "find": "100%"})).text
    assert "Nobody else is found by these words." in nobody
    async with resources.database.unit_of_work() as work:
        assert list(await work.session.scalars(_RECIPIENTS)) == [], "looking sends nothing"
