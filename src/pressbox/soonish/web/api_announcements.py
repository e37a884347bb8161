"""API: announcements, whom they reach, and the ledger of their deliveries."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from pressbox.core.web.api_models import RequestBody
from pressbox.core.web.identity import SignedInIdentity
from pressbox.delivery.domain.attempts import DeliveryState, Level
from pressbox.soonish.domain.views import DeliveryView, MessageView, Reach, ResendView
from pressbox.soonish.service.inputs import Announcement
from pressbox.soonish.web.access import After, PageSize, RowId, Service

router = APIRouter(prefix="/api/soonish", tags=["announcements"])

MAX_CHOSEN = 10_000
SubscriptionIds = Annotated[list[int] | None, Field(max_length=MAX_CHOSEN, description="null: everybody.")]


class AnnouncementBody(RequestBody):
    text: str
    title: str = Field("", description="Empty: the name of the event.")
    level: Level = Level.INFO
    subscription_ids: SubscriptionIds = None
    request_key: str | None = Field(None, max_length=100, description="The same key again is the same message.")

    def to_input(self) -> Announcement:
        return Announcement(self.text, self.title, self.level, to_tuple(self.subscription_ids), self.request_key)


class PreviewBody(RequestBody):
    subscription_ids: SubscriptionIds = None


class ResendBody(RequestBody):
    delivery_ids: Annotated[
        list[int] | None, Field(max_length=MAX_CHOSEN, description="null: everybody to whom it failed.")
    ] = None
    with_uncertain: bool = Field(False, description="Also what may have arrived, which may then arrive twice.")


@router.post("/events/{slug}/announce", status_code=202, summary="Send an announcement to all or some subscribers")
async def announce(service: Service, identity: SignedInIdentity, slug: str, body: AnnouncementBody) -> MessageView:
    return await service.board.announce(identity.user_id, slug, body.to_input())


@router.post("/events/{slug}/preview", summary="Whom an announcement would reach; nothing is sent")
async def preview(service: Service, identity: SignedInIdentity, slug: str, body: PreviewBody) -> Reach:
    return await service.board.preview_reach(identity.user_id, slug, to_tuple(body.subscription_ids))


@router.get("/events/{slug}/messages", summary="Messages of an event, newest first, with counts by state")
async def messages(
    service: Service, identity: SignedInIdentity, slug: str, limit: PageSize = 100
) -> Sequence[MessageView]:
    return await service.board.list_messages(identity.user_id, slug, limit)


@router.post("/messages/{message_id}/stop", status_code=202, summary="Stop sending a message; the rest is skipped")
async def stop(service: Service, identity: SignedInIdentity, message_id: RowId) -> MessageView:
    await service.board.stop(identity.user_id, message_id)
    return await service.board.get_message(identity.user_id, message_id)


@router.post(
    "/messages/{message_id}/resend", status_code=202, summary="Send a message again to those to whom it failed"
)
async def resend(service: Service, identity: SignedInIdentity, message_id: RowId, body: ResendBody) -> ResendView:
    return await service.board.resend(
        identity.user_id, message_id, to_tuple(body.delivery_ids), with_uncertain=body.with_uncertain
    )


@router.get("/deliveries", summary="The ledger of one message")
async def deliveries(
    service: Service,
    identity: SignedInIdentity,
    message_id: Annotated[int, Query(ge=1, le=2**63 - 1)],
    state: DeliveryState | None = None,
    after: After = 0,
    limit: PageSize = 100,
) -> Sequence[DeliveryView]:
    return await service.board.list_deliveries(identity.user_id, message_id, state=state, after=after, limit=limit)


def to_tuple(ids: list[int] | None) -> tuple[int, ...] | None:
    return None if ids is None else tuple(ids)
