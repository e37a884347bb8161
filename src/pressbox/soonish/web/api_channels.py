"""API: the channels of whoever asks. Addresses come in and never go out."""

from collections.abc import Sequence
from dataclasses import replace

from fastapi import APIRouter
from pydantic import Field, SecretStr

from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.core.web.identity import SignedInIdentity
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.domain.channels import ChannelInput, ChannelView
from pressbox.soonish.web.access import RowId, Service

router = APIRouter(prefix="/api/soonish", tags=["channels"])


class ChannelBody(RequestBody):
    name: str
    url: SecretStr = Field(description="An Apprise address. It is kept encrypted and never given back.")
    tags: list[str] = Field(default_factory=list)
    is_active: bool = True

    def to_input(self) -> ChannelInput:
        return ChannelInput(self.name, self.url.get_secret_value(), tuple(self.tags), self.is_active)


class ChannelChange(RequestBody):
    """What is left out stays as it is."""

    name: str | None = None
    url: SecretStr | None = None
    tags: list[str] | None = None
    is_active: bool | None = None

    def apply_to(self, channel: ChannelView) -> ChannelInput:
        present = ChannelInput(channel.name, None, channel.tags, channel.is_active)
        stated = self.model_dump(exclude_none=True) | ({"url": self.url.get_secret_value()} if self.url else {})
        return replace(present, **stated)


class AttemptResponse(ResponseModel):
    result: AttemptResult
    reason: str


@router.get("/channels", summary="Your channels")
async def channels(service: Service, identity: SignedInIdentity) -> Sequence[ChannelView]:
    return await service.channels.list(identity.user_id)


@router.post("/channels", status_code=201, summary="Add a channel")
async def add_channel(service: Service, identity: SignedInIdentity, body: ChannelBody) -> ChannelView:
    return await service.channels.add(identity.user_id, body.to_input())


@router.get("/channels/{channel_id}", summary="One of your channels, without its address")
async def channel(service: Service, identity: SignedInIdentity, channel_id: RowId) -> ChannelView:
    return await service.channels.get(identity.user_id, channel_id)


@router.patch("/channels/{channel_id}", summary="Change a channel")
async def change_channel(
    service: Service, identity: SignedInIdentity, channel_id: RowId, body: ChannelChange
) -> ChannelView:
    url = body.url.get_secret_value() if body.url else None
    return await service.channels.change_some(identity.user_id, channel_id, url, body.apply_to)


@router.delete("/channels/{channel_id}", status_code=204, summary="Remove a channel")
async def remove_channel(service: Service, identity: SignedInIdentity, channel_id: RowId) -> None:
    await service.channels.remove(identity.user_id, channel_id)


@router.post("/channels/{channel_id}/test", summary="Send a test over a channel and return the result")
async def send_test(service: Service, identity: SignedInIdentity, channel_id: RowId) -> AttemptResponse:
    return AttemptResponse.model_validate(await service.channels.test(identity.user_id, channel_id))
