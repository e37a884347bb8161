"""JSON: announcements, whom they reach, and the ledger of what became of them."""

from typing import Annotated

from fastapi import APIRouter, Query

from pressbox.soonish.domain.delivery import DeliveryState
from pressbox.soonish.web.access import Reader, RowId, Service
from pressbox.soonish.web.api_models import (
    After,
    AnnouncementBody,
    DeliveryAnswer,
    MessageAnswer,
    PageSize,
    PreviewBody,
    ReachAnswer,
)

router = APIRouter(prefix="/api/soonish", tags=["announcements"])


@router.post("/events/{slug}/announce", status_code=202, summary="Announce something to all or to some")
async def announce(service: Service, identity: Reader, slug: str, body: AnnouncementBody) -> MessageAnswer:
    return MessageAnswer.of(await service.board.announce(identity.user_id, slug, body.read()))


@router.post("/events/{slug}/preview", summary="Whom an announcement would reach; nothing is sent")
async def preview(service: Service, identity: Reader, slug: str, body: PreviewBody) -> ReachAnswer:
    chosen = None if body.subscription_ids is None else tuple(body.subscription_ids)
    return ReachAnswer.model_validate(await service.board.reach(identity.user_id, slug, chosen))


@router.get("/events/{slug}/messages", summary="Messages of an event, newest first, with counts by state")
async def messages(service: Service, identity: Reader, slug: str, limit: PageSize = 100) -> list[MessageAnswer]:
    return [MessageAnswer.of(message) for message in await service.board.messages(identity.user_id, slug, limit)]


@router.post("/messages/{message_id}/stop", status_code=202, summary="Stop a message half-way; the rest is skipped")
async def stop(service: Service, identity: Reader, message_id: RowId) -> MessageAnswer:
    await service.board.stop(identity.user_id, message_id)
    return MessageAnswer.of(await service.board.message(identity.user_id, message_id))


@router.get("/deliveries", summary="The ledger of one message")
async def deliveries(
    service: Service,
    identity: Reader,
    message_id: Annotated[int, Query(ge=1, le=2**63 - 1)],
    state: DeliveryState | None = None,
    after: After = 0,
    limit: PageSize = 100,
) -> list[DeliveryAnswer]:
    rows = await service.board.deliveries(identity.user_id, message_id, state=state, after=after, limit=limit)
    return [DeliveryAnswer.model_validate(row) for row in rows]
