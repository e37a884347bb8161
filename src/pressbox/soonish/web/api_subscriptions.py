"""JSON: who follows an event, and the subscriptions of whoever asks."""

from datetime import timedelta

from fastapi import APIRouter, Request

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.identity import Identity
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.ports import Holder
from pressbox.soonish.service.inputs import LONGEST_DELAY
from pressbox.soonish.web.access import Reader, RowId, Service, client, viewer
from pressbox.soonish.web.api_models import (
    After,
    ChoiceChange,
    JoinedAnswer,
    PageSize,
    ReminderAnswer,
    ReminderBody,
    SubscribeBody,
    SubscriberAnswer,
    SubscriptionAnswer,
    spans_of,
)

router = APIRouter(prefix="/api/soonish", tags=["subscriptions"])


def _holder(identity: Identity, subscription_id: int) -> Holder:
    return Holder(subscription_id, identity.user_id)


@router.get("/subscriptions", summary="What you follow")
async def subscriptions(service: Service, identity: Reader) -> list[SubscriptionAnswer]:
    return [SubscriptionAnswer.of(view) for view in await service.subscriptions.of_user(identity.user_id)]


@router.get("/subscriptions/{subscription_id}", summary="One of your subscriptions")
async def subscription(service: Service, identity: Reader, subscription_id: RowId) -> SubscriptionAnswer:
    return SubscriptionAnswer.of(await service.subscriptions.view(_holder(identity, subscription_id)))


@router.patch("/subscriptions/{subscription_id}", summary="Change channels, tags or reminders")
async def change(service: Service, identity: Reader, subscription_id: RowId, body: ChoiceChange) -> SubscriptionAnswer:
    holder = _holder(identity, subscription_id)
    found = await service.subscriptions.view(holder)
    return SubscriptionAnswer.of(await service.subscriptions.change(holder, body.over(found)))


@router.delete("/subscriptions/{subscription_id}", status_code=204, summary="Leave the event")
async def leave(service: Service, identity: Reader, subscription_id: RowId) -> None:
    await service.subscriptions.leave(_holder(identity, subscription_id))


@router.post("/subscriptions/{subscription_id}/mute", summary="Send nothing until it is unmuted")
async def mute(service: Service, identity: Reader, subscription_id: RowId) -> SubscriptionAnswer:
    return SubscriptionAnswer.of(await service.subscriptions.mute(_holder(identity, subscription_id)))


@router.post("/subscriptions/{subscription_id}/unmute", summary="Hear of the event again")
async def unmute(service: Service, identity: Reader, subscription_id: RowId) -> SubscriptionAnswer:
    return SubscriptionAnswer.of(await service.subscriptions.unmute(_holder(identity, subscription_id)))


@router.post("/subscriptions/{subscription_id}/reminders", status_code=201, summary="Remind me once, after a time")
async def remind(service: Service, identity: Reader, subscription_id: RowId, body: ReminderBody) -> ReminderAnswer:
    if not 0 <= body.delay_seconds <= LONGEST_DELAY.total_seconds():
        raise InvalidInputError("Choose a time between 1 minute and 365 days from now.", field="delay_seconds")
    delay = timedelta(seconds=body.delay_seconds)
    made = await service.subscriptions.remind_in(_holder(identity, subscription_id), delay)
    return ReminderAnswer.model_validate(made)


@router.delete(
    "/subscriptions/{subscription_id}/reminders/{reminder_id}", status_code=204, summary="Take a reminder back"
)
async def cancel_reminder(service: Service, identity: Reader, subscription_id: RowId, reminder_id: RowId) -> None:
    await service.subscriptions.cancel_reminder(_holder(identity, subscription_id), reminder_id)


@router.get("/events/{slug}/subscriptions", summary="Who follows an event, for its organiser")
async def subscribers(
    service: Service, identity: Reader, slug: str, after: After = 0, limit: PageSize = 100
) -> list[SubscriberAnswer]:
    rows = await service.board.subscribers(identity.user_id, slug, after=after, limit=limit)
    return [SubscriberAnswer.model_validate(row) for row in rows]


@router.post("/events/{slug}/subscriptions", status_code=201, summary="Follow an event")
async def subscribe(
    request: Request, service: Service, identity: Reader, slug: str, body: SubscribeBody
) -> JoinedAnswer:
    looks, offsets = viewer(identity, body.invitation or ""), spans_of(body.offsets)
    if body.email is not None and body.url is not None:
        raise InvalidInputError("Give an e-mail address or an Apprise address, not both.", field="url")
    if body.email is not None:
        await service.subscriptions.subscribe_by_email(looks, slug, body.email, offsets, client(request))
        return JoinedAnswer(state=SubscriptionState.PENDING)
    if body.url is not None:
        url = body.url.get_secret_value()
        joined = await service.subscriptions.subscribe_by_url(looks, slug, url, offsets, client(request))
        told = SubscriptionAnswer.of(joined.subscription)
        return JoinedAnswer(state=told.state, subscription=told, manage_url=joined.manage_url)
    made = SubscriptionAnswer.of(await service.subscriptions.subscribe(looks, slug, body.read()))
    return JoinedAnswer(state=made.state, subscription=made)
