"""The audit log for administrators, with filters."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from pressbox.core.accounts.audit import PAGE, Action, AuditFilter, AuditLog
from pressbox.core.web.pages.access import Administrator, Parts
from pressbox.core.web.rendering import render

router = APIRouter(include_in_schema=False)

Number = Annotated[int | None, Query(ge=1, le=2**63 - 1)]


@router.get("/audit")
async def audit_log(
    request: Request,
    parts: Parts,
    _: Administrator,
    action: Annotated[str, Query(max_length=100)] = "",
    person: Annotated[str, Query(max_length=320)] = "",
    address: Annotated[str, Query(max_length=100)] = "",
    before: Number = None,
) -> Response:
    log = AuditLog(parts.database)
    wanted = AuditFilter(action=action, person=person.strip(), address=address.strip(), before=before)
    entries = await log.read(wanted, PAGE)
    older = {"action": action, "person": person, "address": address, "before": entries[-1].id} if entries else {}
    return render(
        request,
        "audit.html",
        entries=entries,
        actions=list(Action),
        wanted=wanted,
        older=f"/audit?{urlencode(older)}" if len(entries) == PAGE else None,
    )
