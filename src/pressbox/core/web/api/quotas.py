"""JSON: how much one person may have and do, and how much is used."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field

from pressbox.core.quotas.quota import LARGEST_LIMIT, QuotaUse
from pressbox.core.quotas.service import QuotaService
from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.core.web.identity import AdministratorIdentity, SignedInIdentity, actor_of
from pressbox.core.web.rates import quota_service

router = APIRouter(prefix="/api", tags=["limits"])

Quotas = Annotated[QuotaService, Depends(quota_service)]
UserId = Annotated[int, Path(ge=1, le=2**63 - 1)]
Key = Annotated[str, Path(max_length=50)]


class QuotaResponse(ResponseModel):
    key: str
    title: str
    used: int | None = Field(description="Null: counted in memory, and not shown.")
    most: int
    window_seconds: int | None = Field(description="The time in which that much may be done; null: at once.")
    granted: bool = Field(description="An administrator gave this person a limit of their own.")

    @classmethod
    def of(cls, use: QuotaUse) -> "QuotaResponse":
        seconds = None if use.window is None else int(use.window.total_seconds())
        return cls.model_validate({**vars(use), "window_seconds": seconds})


class LimitBody(RequestBody):
    most: int | None = Field(ge=0, le=LARGEST_LIMIT, description="Null takes the person's own limit back.")


@router.get("/account/quotas", summary="How much I may have and do, and how much is used")
async def own_quotas(quotas: Quotas, identity: SignedInIdentity) -> list[QuotaResponse]:
    return [QuotaResponse.of(use) for use in await quotas.list(identity.user_id)]


@router.get("/users/{user_id}/quotas", summary="How much somebody may have and do, and how much is used")
async def quotas_of(quotas: Quotas, identity: AdministratorIdentity, user_id: UserId) -> list[QuotaResponse]:
    return [QuotaResponse.of(use) for use in await quotas.list(user_id)]


@router.put("/users/{user_id}/quotas/{key}", summary="Give somebody a limit of their own")
async def set_quota(
    request: Request, quotas: Quotas, identity: AdministratorIdentity, user_id: UserId, key: Key, body: LimitBody
) -> QuotaResponse:
    use = await quotas.set_limit(user_id, key, body.most, actor=actor_of(request))
    request.app.state.person_limits.forget()
    return QuotaResponse.of(use)
