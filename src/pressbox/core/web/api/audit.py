"""JSON: the audit log, whole for administrators, their own part for everybody."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from pressbox.core.accounts.audit import PAGE, AuditEntry, AuditFilter, AuditLog, seen_by_subject
from pressbox.core.web.api_models import ResponseModel
from pressbox.core.web.identity import AdministratorIdentity, SignedInIdentity
from pressbox.core.web.pages.access import Parts

router = APIRouter(prefix="/api", tags=["audit"])

Number = Annotated[int | None, Query(ge=1, le=2**63 - 1)]
Limit = Annotated[int, Query(ge=1, le=500)]


class AuditResponse(ResponseModel):
    id: int = Field(description="Ask with it as `before` for what is older.")
    at: datetime
    action: str
    actor_id: int | None
    actor: str | None
    subject_id: int | None
    subject: str | None
    address: str
    agent: str
    detail: dict[str, Any]


@router.get("/audit", response_model=list[AuditResponse], summary="What happened to accounts, newest first")
async def audit_log(
    _: AdministratorIdentity,
    parts: Parts,
    action: Annotated[str, Query(max_length=100)] = "",
    person: Annotated[str, Query(max_length=320, description="An e-mail address.")] = "",
    address: Annotated[str, Query(max_length=100)] = "",
    before: Number = None,
    limit: Limit = PAGE,
) -> Sequence[AuditEntry]:
    wanted = AuditFilter(action=action, person=person, address=address, before=before)
    return await AuditLog(parts.database).read(wanted, limit)


@router.get("/account/audit", response_model=list[AuditResponse], summary="What happened to my account")
async def own_audit_log(
    identity: SignedInIdentity, parts: Parts, before: Number = None, limit: Limit = PAGE
) -> Sequence[AuditEntry]:
    entries = await AuditLog(parts.database).read(AuditFilter(user_id=identity.user_id, before=before), limit)
    return [seen_by_subject(entry, identity.user_id) for entry in entries]
