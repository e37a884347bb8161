"""Thousands of people at one event: one of them signs up through the API, the others are numbered copies of it."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import httpx
from sqlalchemy import text

from pressbox.core.db.database import Database

# The last message that arrived at the target: it has the link that confirms the first person.
ReadMessage = Callable[[], Awaitable[str]]
# The seconds before the start at which the person of this number wants to be reminded.
ChooseOffsets = Callable[[int], Sequence[int]]

_COPY = text("""
    WITH first AS (
        SELECT subscription.event_id, contact.*
        FROM soonish.subscriptions AS subscription JOIN soonish.contacts AS contact ON contact.id = contact_id
        WHERE subscription.id = :subscription_id
    ), copied AS (
        INSERT INTO soonish.contacts (kind, encrypted_address, key_id, target, shown, verified_at)
        SELECT kind, encrypted_address, key_id, sha256(convert_to('copy ' || number, 'UTF8')), shown, now()
        FROM first, generate_series(1, :copies) AS number
        RETURNING id
    )
    INSERT INTO soonish.subscriptions (event_id, contact_id, state, own_offsets)
    SELECT first.event_id, copied.id, 'active', true FROM first, copied
    RETURNING id
""")
_REMIND = text("""
    INSERT INTO soonish.reminder_offsets (subscription_id, offset_seconds)
    SELECT * FROM unnest(CAST(:subscriptions AS bigint[]), CAST(:seconds AS integer[]))
""")


@dataclass(frozen=True)
class Crowd:
    """An event and who follows it; `reminders` are pairs of a subscription and its seconds before the start."""

    slug: str
    reminders: Sequence[tuple[int, int]]


async def gather_crowd(
    client: httpx.AsyncClient,
    database: Database,
    *,
    start: datetime,
    url: str,
    read_message: ReadMessage,
    people: int,
    choose_offsets: ChooseOffsets = lambda _: (),
) -> Crowd:
    """Create an event through the API of soonish and let so many people follow it at this Apprise URL."""
    body = {"name": "Measured", "start_date": start.isoformat(), "timezone": "UTC"}
    slug = str((await client.post("/events", json=body)).raise_for_status().json()["slug"])
    follow = {"url": url, "offsets": []}
    (await client.post(f"/events/{slug}/subscriptions", json=follow)).raise_for_status()
    [link] = re.findall(r"https?://\S+/events/confirm/\S+", await read_message())
    confirmation = client.base_url.join(httpx.URL(link).path)
    (await client.post(confirmation, follow_redirects=True)).raise_for_status()
    [joined] = (await client.get(f"/events/{slug}/subscriptions")).raise_for_status().json()
    first = joined["subscription_id"]
    async with database.unit_of_work() as work:
        copied = await work.session.scalars(_COPY, {"subscription_id": first, "copies": people - 1})
        everybody = [first, *sorted(copied)]
        reminders = [(one, seconds) for number, one in enumerate(everybody) for seconds in choose_offsets(number)]
        values = {"subscriptions": [one for one, _ in reminders], "seconds": [seconds for _, seconds in reminders]}
        await work.session.execute(_REMIND, values)
    if reminders:
        # The workflow does not know the copies; any edit makes it compare all schedules.
        (await client.patch(f"/events/{slug}", json={"location": "Hall 1"})).raise_for_status()
    return Crowd(slug, reminders)
