"""Pages of one message: its deliveries, stopping it, and sending it again to those to whom it failed."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, Response

from pressbox.core.errors import ConflictError, PressboxError
from pressbox.core.web.identity import Identity, SignedInIdentity
from pressbox.core.web.rendering import render
from pressbox.soonish.domain.delivery import PERSONAL
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import After, RowId, Service, error_text, newest_change, redirect
from pressbox.soonish.web.board import PAGE_ROWS, build_segments
from pressbox.soonish.web.topics import NOTIFICATION

router = APIRouter(include_in_schema=False)

RESENT = "It is being sent again."
MessagePath = f"{PATH}/{{slug}}/board/messages/{{message_id}}"


@router.get(MessagePath)
async def ledger(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    slug: str,
    message_id: RowId,
    after: After = 0,
    done: str = "",
) -> HTMLResponse:
    message = RESENT if done == "resent" else None
    return await _ledger(request, service, identity, slug, message_id, after=after, message=message)


@router.post(f"{MessagePath}/stop")
async def stop(service: Service, identity: SignedInIdentity, slug: str, message_id: RowId) -> Response:
    await service.board.stop(identity.user_id, message_id)
    return redirect(f"{PATH}/{slug}/board?done=stopped")


@router.get(f"{MessagePath}/resend")
async def confirm_resend(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    slug: str,
    message_id: RowId,
    delivery: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
) -> HTMLResponse:
    """Ask before something is sent that may have arrived."""
    event = await service.events.get_organised(identity.user_id, slug)
    item = await service.board.get_message(identity.user_id, message_id)
    return render(request, "soonish/resend.html", identity=identity, event=event, item=item, delivery=delivery)


@router.post(f"{MessagePath}/resend")
async def resend(
    request: Request,
    service: Service,
    identity: SignedInIdentity,
    slug: str,
    message_id: RowId,
    delivery: Annotated[int | None, Form(ge=1, le=2**63 - 1)] = None,
    with_uncertain: Annotated[bool, Form()] = False,
) -> Response:
    chosen = None if delivery is None else (delivery,)
    try:
        await service.board.resend(identity.user_id, message_id, chosen, with_uncertain=with_uncertain)
    except ConflictError as error:
        return await _ledger(request, service, identity, slug, message_id, error=error)
    return redirect(f"{PATH}/{slug}/board/messages/{message_id}?done=resent")


async def _ledger(
    request: Request,
    service: Soonish,
    identity: Identity,
    slug: str,
    message_id: int,
    *,
    after: int = 0,
    message: str | None = None,
    error: PressboxError | None = None,
) -> HTMLResponse:
    cursor = await newest_change(request)
    event = await service.events.get_organised(identity.user_id, slug)
    item = await service.board.get_message(identity.user_id, message_id)
    rows = await service.board.list_deliveries(identity.user_id, message_id, after=after, limit=PAGE_ROWS)
    return render(
        request,
        "soonish/ledger.html",
        error.status if error else 200,
        identity=identity,
        event=event,
        item=item,
        deliveries=rows,
        more=rows[-1].id if len(rows) == PAGE_ROWS else None,
        follow=f"{NOTIFICATION}:{item.id}",
        segments=build_segments,
        cursor=cursor,
        may_resend=item.finished_at is not None and item.cause not in PERSONAL,
        message=message,
        error=error_text(error),
    )
