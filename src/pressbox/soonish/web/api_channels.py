"""JSON: the channels of whoever asks."""

from fastapi import APIRouter

from pressbox.soonish.service.inputs import ChannelInput
from pressbox.soonish.web.access import Reader, RowId, Service
from pressbox.soonish.web.api_models import AttemptAnswer, ChannelAnswer, ChannelBody, ChannelChange

router = APIRouter(prefix="/api/soonish", tags=["channels"])


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
