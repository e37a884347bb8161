"""The page on which somebody who is signed in shows again that it is them, before something sensitive."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.service import AccountService
from pressbox.core.errors import InvalidInputError, PressboxError, RateLimitedError
from pressbox.core.web.connection import account_service
from pressbox.core.web.errors import PROOF_PATH, refusal_headers, safe_next
from pressbox.core.web.identity import SignedInIdentity, client_of
from pressbox.core.web.proof import note_proof
from pressbox.core.web.rendering import render

router = APIRouter(include_in_schema=False)

Accounts = Annotated[AccountService, Depends(account_service)]
Text = Annotated[str, Form()]
DEFAULT_TARGET = "/account"


@router.get(PROOF_PATH)
async def proof_form(request: Request, identity: SignedInIdentity, next: str = "") -> Response:
    target = safe_next(next, DEFAULT_TARGET)
    return RedirectResponse(target, status_code=303) if identity.proved_recently else _page(request, target)


@router.post(PROOF_PATH)
async def prove(
    request: Request, identity: SignedInIdentity, accounts: Accounts, password: Text = "", next: Text = ""
) -> Response:
    target = safe_next(next, DEFAULT_TARGET)
    try:
        await accounts.prove_by_password(identity.user_id, password, client=client_of(request))
    except (InvalidInputError, RateLimitedError) as error:
        return _page(request, target, error)
    await note_proof(request, identity)
    return RedirectResponse(target, status_code=303)


def _page(request: Request, target: str, error: PressboxError | None = None) -> Response:
    page = render(
        request, "proof.html", error.status if error else 200, next=target, error=error.message if error else None
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page
