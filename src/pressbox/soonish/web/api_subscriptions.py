"""API: who follows an event, and the subscriptions of whoever asks."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Self

from fastapi import APIRouter, Request
from pydantic import Field, SecretStr

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.core.web.identity import Identity, SignedInIdentity
from pressbox.core.web.languages import LANGUAGES
from pressbox.soonish.domain.reminders import SubscriptionState, TooLate
from pressbox.soonish.domain.times import check_zone
from pressbox.soonish.domain.views import (
    EventView,
    Holder,
    RequestedReminderView,
    SubscriberView,
    SubscriptionView,
    Viewer,
)
from pressbox.soonish.service.inputs import MAX_DELAY, Preferences
from pressbox.soonish.web.access import After, PageSize, RowId, Service, client_address, make_viewer
from pressbox.soonish.web.forms import offset_seconds

router = APIRouter(prefix="/api/soonish", tags=["subscriptions"])


class PreferencesBody(RequestBody):
    channel_ids: list[int] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    offsets: list[int] | None = Field(None, description="Seconds before the start; null: 1 day and 1 hour; []: none.")

    def to_input(self) -> Preferences:
        return Preferences(tuple(self.channel_ids), tuple(self.tags), to_offsets(self.offsets))


class SubscribeBody(PreferencesBody):
    """With channels or tags of your own; or for an address, which then has no account."""

    email: str | None = Field(None, description="Gets one mail with a link to confirm, and nothing else before.")
    url: SecretStr | None = Field(None, description="An Apprise address. Gets one message with a link to confirm.")
    invitation: str | None = Field(None, description="Needed to join a private event.")
    timezone: str | None = Field(
        None, description="A name such as Europe/Berlin, for times in messages; without it, that of the event."
    )
    language: str | None = Field(None, description="en or de, for messages to an address; an account has its own.")

    def read_by(self, viewer: Viewer) -> Viewer:
        """The viewer with the language and the time zone that they state."""
        if self.timezone:
            check_zone(self.timezone)
        if self.language and self.language not in LANGUAGES:
            raise InvalidInputError("This language is not known.", field="language")
        return replace(viewer, timezone=self.timezone or "", language=self.language or "")


class PreferencesChange(RequestBody):
    """What is left out stays as it is."""

    channel_ids: list[int] | None = None
    tags: list[str] | None = None
    offsets: list[int] | None = Field(None, description="null: the default of 1 day and 1 hour; []: none.")

    def apply_to(self, found: SubscriptionView) -> Preferences:
        return Preferences(
            found.channel_ids if self.channel_ids is None else tuple(self.channel_ids),
            found.tags if self.tags is None else tuple(self.tags),
            to_offsets(self.offsets) if "offsets" in self.model_fields_set else found.offsets,
        )


class ReminderBody(RequestBody):
    delay_seconds: int = Field(description="From now.")


class SubscriptionResponse(ResponseModel):
    """Differs from the view: offsets are seconds, also when they are the default."""

    id: int
    event: EventView
    state: SubscriptionState
    offsets: list[int] = Field(description="Seconds before the start.")
    default_offsets: bool
    channel_ids: list[int]
    tags: list[str]
    too_late: list[str] = Field(description="Reminders whose time has passed.")
    reminders: list[RequestedReminderView]

    @classmethod
    def of(cls, view: SubscriptionView) -> Self:
        offsets = {"offsets": list(offset_seconds(view.offsets)), "default_offsets": view.offsets is None}
        too_late = [str(TooLate(view.id, offset)) for offset in view.too_late]
        return cls.model_validate(vars(view) | offsets | {"too_late": too_late})


class SubscribeResponse(ResponseModel):
    """`subscription` is null while an address waits for its confirmation."""

    state: SubscriptionState
    subscription: SubscriptionResponse | None = None


@router.get("/subscriptions", summary="What you follow")
async def subscriptions(service: Service, identity: SignedInIdentity) -> list[SubscriptionResponse]:
    return [SubscriptionResponse.of(view) for view in await service.subscriptions.list(identity.user_id)]


@router.get("/subscriptions/{subscription_id}", summary="One of your subscriptions")
async def subscription(service: Service, identity: SignedInIdentity, subscription_id: RowId) -> SubscriptionResponse:
    return SubscriptionResponse.of(await service.subscriptions.get(_holder(identity, subscription_id)))


@router.patch("/subscriptions/{subscription_id}", summary="Change channels, tags or reminders")
async def change(
    service: Service, identity: SignedInIdentity, subscription_id: RowId, body: PreferencesChange
) -> SubscriptionResponse:
    holder = _holder(identity, subscription_id)
    return SubscriptionResponse.of(await service.subscriptions.change_some(holder, body.apply_to))


@router.delete("/subscriptions/{subscription_id}", status_code=204, summary="Leave the event")
async def leave(service: Service, identity: SignedInIdentity, subscription_id: RowId) -> None:
    await service.subscriptions.leave(_holder(identity, subscription_id))


@router.post("/subscriptions/{subscription_id}/mute", summary="Send nothing until it is unmuted")
async def mute(service: Service, identity: SignedInIdentity, subscription_id: RowId) -> SubscriptionResponse:
    return SubscriptionResponse.of(await service.subscriptions.mute(_holder(identity, subscription_id)))


@router.post("/subscriptions/{subscription_id}/unmute", summary="Send messages about the event again")
async def unmute(service: Service, identity: SignedInIdentity, subscription_id: RowId) -> SubscriptionResponse:
    return SubscriptionResponse.of(await service.subscriptions.unmute(_holder(identity, subscription_id)))


@router.post(
    "/subscriptions/{subscription_id}/reminders", status_code=201, summary="Ask for one reminder, after a time"
)
async def remind(
    service: Service, identity: SignedInIdentity, subscription_id: RowId, body: ReminderBody
) -> RequestedReminderView:
    if not 0 <= body.delay_seconds <= MAX_DELAY.total_seconds():
        raise InvalidInputError("Choose a time between 1 minute and 365 days from now.", field="delay_seconds")
    delay = timedelta(seconds=body.delay_seconds)
    return await service.subscriptions.remind_in(_holder(identity, subscription_id), delay)


@router.delete("/subscriptions/{subscription_id}/reminders/{reminder_id}", status_code=204, summary="Cancel a reminder")
async def cancel_reminder(
    service: Service, identity: SignedInIdentity, subscription_id: RowId, reminder_id: RowId
) -> None:
    await service.subscriptions.cancel_reminder(_holder(identity, subscription_id), reminder_id)


@router.get("/events/{slug}/subscriptions", summary="Who follows an event, for its organiser")
async def subscribers(
    service: Service, identity: SignedInIdentity, slug: str, after: After = 0, limit: PageSize = 100
) -> Sequence[SubscriberView]:
    return await service.board.list_subscribers(identity.user_id, slug, after=after, limit=limit)


@router.post("/events/{slug}/subscriptions", status_code=201, summary="Follow an event")
async def subscribe(
    request: Request, service: Service, identity: SignedInIdentity, slug: str, body: SubscribeBody
) -> SubscribeResponse:
    viewer, offsets = body.read_by(make_viewer(identity, body.invitation or "")), to_offsets(body.offsets)
    if body.email is not None and body.url is not None:
        raise InvalidInputError("Give an e-mail address or an Apprise address, not both.", field="url")
    if body.email is not None:
        client = client_address(request)
        await service.guests.subscribe_by_email(viewer, slug, body.email, offsets, client)
        return SubscribeResponse(state=SubscriptionState.PENDING)
    if body.url is not None:
        url, client = body.url.get_secret_value(), client_address(request)
        await service.guests.subscribe_by_url(viewer, slug, url, offsets, client)
        return SubscribeResponse(state=SubscriptionState.PENDING)
    found = await service.subscriptions.subscribe(viewer, slug, body.to_input())
    return SubscribeResponse(state=found.state, subscription=SubscriptionResponse.of(found))


@router.put("/events/{slug}/organiser", status_code=204, summary="Hear of new public events by its organiser")
async def follow_organiser(service: Service, identity: SignedInIdentity, slug: str) -> None:
    await service.organisers.follow(identity.user_id, slug)


@router.delete("/events/{slug}/organiser", status_code=204, summary="Hear of its organiser no longer")
async def unfollow_organiser(service: Service, identity: SignedInIdentity, slug: str) -> None:
    await service.organisers.unfollow(identity.user_id, slug)


def to_offsets(seconds: list[int] | None) -> tuple[timedelta, ...] | None:
    return None if seconds is None else tuple(timedelta(seconds=item) for item in seconds)


def _holder(identity: Identity, subscription_id: int) -> Holder:
    return Holder(subscription_id, identity.user_id)
