"""The page on which somebody who is signed in shows again that it is them, before something sensitive."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.ceremonies import Kind
from pressbox.core.accounts.factors import SecondFactors
from pressbox.core.accounts.service import AccountService
from pressbox.core.errors import InvalidInputError, PressboxError, RateLimitedError
from pressbox.core.web.ceremonies import passkey_options_response, read_ceremony
from pressbox.core.web.connection import account_service, second_factors
from pressbox.core.web.errors import PROOF_PATH, refusal_headers, safe_next
from pressbox.core.web.identity import Identity, SignedInIdentity, client_of
from pressbox.core.web.pages.account_context import second_factor_context
from pressbox.core.web.proof import note_proof
from pressbox.core.web.rendering import render

router = APIRouter(include_in_schema=False)

Accounts = Annotated[AccountService, Depends(account_service)]
Factors = Annotated[SecondFactors, Depends(second_factors)]
Text = Annotated[str, Form()]
DEFAULT_TARGET = "/account"
_REFUSALS = (InvalidInputError, RateLimitedError)


@router.get(PROOF_PATH)
async def proof_form(request: Request, identity: SignedInIdentity, next: str = "") -> Response:
    target = safe_next(next, DEFAULT_TARGET)
    if identity.proved_recently:
        return RedirectResponse(target, status_code=303)
    return await _page(request, identity, target)


@router.post(PROOF_PATH)
async def prove(
    request: Request, identity: SignedInIdentity, accounts: Accounts, password: Text = "", next: Text = ""
) -> Response:
    target = safe_next(next, DEFAULT_TARGET)
    try:
        await accounts.prove_by_password(identity.user_id, password, client=client_of(request))
    except _REFUSALS as error:
        return await _page(request, identity, target, error)
    return await _go_on(request, identity, target)


@router.post(f"{PROOF_PATH}/code")
async def prove_by_code(
    request: Request, identity: SignedInIdentity, factors: Factors, code: Text = "", next: Text = ""
) -> Response:
    target = safe_next(next, DEFAULT_TARGET)
    try:
        await factors.check_code(identity.user_id, code, client=client_of(request))
    except _REFUSALS as error:
        return await _page(request, identity, target, error)
    return await _go_on(request, identity, target)


@router.post(f"{PROOF_PATH}/passkey/options")
async def passkey_options(request: Request, identity: SignedInIdentity, factors: Factors) -> Response:
    secret, options = await factors.begin_passkey_sign_in(client_of(request), user_id=identity.user_id)
    return passkey_options_response(request, Kind.PASSKEY_SIGN_IN, secret, options)


@router.post(f"{PROOF_PATH}/passkey")
async def prove_by_passkey(
    request: Request, identity: SignedInIdentity, factors: Factors, credential: Text = "", next: Text = ""
) -> Response:
    target, challenge = safe_next(next, DEFAULT_TARGET), read_ceremony(request, Kind.PASSKEY_SIGN_IN)
    try:
        await factors.check_passkey(challenge, credential, client=client_of(request), user_id=identity.user_id)
    except _REFUSALS as error:
        return await _page(request, identity, target, error)
    return await _go_on(request, identity, target)


async def _go_on(request: Request, identity: Identity, target: str) -> Response:
    await note_proof(request, identity)
    return RedirectResponse(target, status_code=303)


async def _page(request: Request, identity: Identity, target: str, error: PressboxError | None = None) -> Response:
    page = render(
        request,
        "proof.html",
        error.status if error else 200,
        next=target,
        error=error.message if error else None,
        **await second_factor_context(request, identity),
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page
