"""The button that makes or renews the private address of one's calendar."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from pressbox.core.accounts.audit import Action, AuditLog
from pressbox.core.accounts.models import Actor
from pressbox.core.web.identity import actor_of
from pressbox.core.web.pages.access import Parts
from pressbox.core.web.proof import ProvedIdentity
from pressbox.soonish.ids import PATH
from pressbox.soonish.web.access import Service, redirect

router = APIRouter(include_in_schema=False)


@router.post(f"{PATH}/calendar")
async def renew(
    parts: Parts, service: Service, identity: ProvedIdentity, by: Annotated[Actor, Depends(actor_of)]
) -> Response:
    await service.calendars.renew(identity.user_id)
    await AuditLog(parts.database).record(Action.CREDENTIAL_ADDED, by, identity.user_id, kind="calendar")
    return redirect(f"{PATH}#calendar")
