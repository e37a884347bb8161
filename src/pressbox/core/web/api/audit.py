"""JSON: the audit log, whole for administrators, their own part for everybody."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query

from pressbox.core.accounts.audit import PAGE, AuditEntry, AuditFilter, AuditLog, seen_by_subject
from pressbox.core.web.identity import AdministratorIdentity, SignedInIdentity
from pressbox.core.web.pages.access import Parts

router = APIRouter(prefix="/api", tags=["audit"])

Number = Annotated[int | None, Query(ge=1, le=2**63 - 1)]
Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("/audit", summary="What happened to accounts, newest first")
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


@router.get("/account/audit", summary="What happened to my account")
async def own_audit_log(
    identity: SignedInIdentity, parts: Parts, before: Number = None, limit: Limit = PAGE
) -> Sequence[AuditEntry]:
    entries = await AuditLog(parts.database).read(AuditFilter(user_id=identity.user_id, before=before), limit)
    return [seen_by_subject(entry, identity.user_id) for entry in entries]
