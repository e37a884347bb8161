"""JSON: the subscriptions and channels of whoever asks."""

from datetime import timedelta

from fastapi import APIRouter

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.identity import Identity
from pressbox.soonish.ports import Holder
from pressbox.soonish.service.inputs import LONGEST_DELAY, ChannelInput
from pressbox.soonish.web.access import Reader, RowId, Service
from pressbox.soonish.web.api_models import (
    AttemptAnswer,
    ChannelAnswer,
    ChannelBody,
    ChannelChange,
    ChoiceChange,
    ReminderAnswer,
    ReminderBody,
    SubscriptionAnswer,
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


@router.get("/channels", summary="Your channels")
async def channels(service: Service, identity: Reader) -> list[ChannelAnswer]:
    return [ChannelAnswer.model_validate(channel) for channel in await service.channels.all(identity.user_id)]


@router.post("/channels", status_code=201, summary="Add a channel")
async def add_channel(service: Service, identity: Reader, body: ChannelBody) -> ChannelAnswer:
    return ChannelAnswer.model_validate(await service.channels.add(identity.user_id, body.read()))


@router.get("/channels/{channel_id}", summary="One of your channels, without its address")
async def channel(service: Service, identity: Reader, channel_id: RowId) -> ChannelAnswer:
    return ChannelAnswer.model_validate(await service.channels.get(identity.user_id, channel_id))


@router.patch("/channels/{channel_id}", summary="Change a channel")
async def change_channel(service: Service, identity: Reader, channel_id: RowId, body: ChannelChange) -> ChannelAnswer:
    found = await service.channels.get(identity.user_id, channel_id)
    stated = ChannelInput(
        name=found.name if body.name is None else body.name,
        url=None if body.url is None else body.url.get_secret_value(),
        tags=found.tags if body.tags is None else tuple(body.tags),
        is_active=found.is_active if body.is_active is None else body.is_active,
    )
    return ChannelAnswer.model_validate(await service.channels.change(identity.user_id, channel_id, stated))


@router.delete("/channels/{channel_id}", status_code=204, summary="Remove a channel")
async def remove_channel(service: Service, identity: Reader, channel_id: RowId) -> None:
    await service.channels.remove(identity.user_id, channel_id)


@router.post("/channels/{channel_id}/test", summary="Send a test over a channel and say what became of it")
async def try_channel(service: Service, identity: Reader, channel_id: RowId) -> AttemptAnswer:
    return AttemptAnswer.model_validate(await service.channels.test(identity.user_id, channel_id))
