"""The limits of one person, for administrators. Everybody sees their own on the account page."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Request
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.service import AccountService
from pressbox.core.errors import InvalidInputError
from pressbox.core.quotas.service import QuotaService
from pressbox.core.web.connection import account_service
from pressbox.core.web.identity import AdministratorIdentity, actor_of
from pressbox.core.web.rates import quota_service
from pressbox.core.web.rendering import render

router = APIRouter(include_in_schema=False)

Quotas = Annotated[QuotaService, Depends(quota_service)]
Accounts = Annotated[AccountService, Depends(account_service)]
UserId = Annotated[int, Path(ge=1, le=2**63 - 1)]


@router.get("/users/{user_id}/quotas")
async def show(
    request: Request, quotas: Quotas, accounts: Accounts, identity: AdministratorIdentity, user_id: UserId
) -> Response:
    person = await accounts.user(user_id)
    return render(request, "quotas.html", identity=identity, person=person, quotas=await quotas.list(user_id))


@router.post("/users/{user_id}/quotas")
async def change(
    request: Request,
    quotas: Quotas,
    identity: AdministratorIdentity,
    user_id: UserId,
    key: Annotated[str, Form(max_length=50)],
    most: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    """An empty number takes the person's own limit back."""
    await quotas.set_limit(user_id, key, _number(most), actor=actor_of(request))
    request.app.state.person_limits.forget()
    return RedirectResponse(f"/users/{user_id}/quotas#{key}", status_code=303)


def _number(text: str) -> int | None:
    plain = text.strip().replace(",", "").replace(".", "").replace("\N{NO-BREAK SPACE}", "")
    if not plain:
        return None
    if not plain.isascii() or not plain.isdigit():
        raise InvalidInputError("A limit is a whole number. Leave it empty for the usual one.", field="most")
    return int(plain)
