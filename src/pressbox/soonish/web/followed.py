"""Events on the page of what somebody follows, and why their messages are in the inbox."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.notices.followed import FollowedThing
from pressbox.soonish.adapters.followed_events import HeldEvent, load_held_events
from pressbox.soonish.adapters.inbox_notices import EVENT_SUBJECT, event_subject
from pressbox.soonish.ids import PATH
from pressbox.soonish.web.subscriptions import SUBSCRIPTIONS

OWN = "It is your event."
SUBSCRIBED = "You subscribed to this event."
BY_FOLLOW = "It comes with something you follow."


async def list_events(resources: Resources, user_id: int, subjects: Collection[str] | None) -> Sequence[FollowedThing]:
    event_ids = None if subjects is None else [number for one in subjects if (number := _event_id(one)) is not None]
    if event_ids is not None and not event_ids:
        return ()
    async with resources.database.unit_of_work() as work:
        held = await load_held_events(work.session, user_id, utc_now(), event_ids)
    return [_thing(one) for one in held]


def _event_id(subject: str) -> int | None:
    number = subject.removeprefix(EVENT_SUBJECT)
    return int(number) if subject.startswith(EVENT_SUBJECT) and number.isascii() and number.isdigit() else None


def _thing(held: HeldEvent) -> FollowedThing:
    event, base = held.event, f"{SUBSCRIPTIONS}/{held.subscription_id}"
    thing = FollowedThing(
        subject=event_subject(event.id),
        name=event.name,
        path=f"{PATH}/{event.slug}",
        why=OWN if held.organises else BY_FOLLOW if held.by_follow else SUBSCRIBED,
        edit_path=f"{PATH}/{event.slug}/board" if held.organises else base,
        at=event.start_date,
        zone=event.timezone,
        muted=held.muted,
        comes_with=held.by_follow,
        over=held.over,
    )
    if held.organises:
        return thing
    return replace(thing, mute_path=f"{base}/mute", unmute_path=f"{base}/unmute", leave_path=f"{base}/leave")
