"""Second factors on pages: set up, shown and removed on the account, asked for after the password."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Request
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.ceremonies import Kind
from pressbox.core.accounts.factors import SecondFactors
from pressbox.core.accounts.models import Proof, User
from pressbox.core.accounts.service import AccountService
from pressbox.core.errors import (
    ConflictError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    PressboxError,
    RateLimitedError,
)
from pressbox.core.web.ceremonies import clear_ceremony, passkey_options_response, read_ceremony
from pressbox.core.web.connection import account_service, second_factors
from pressbox.core.web.errors import SIGN_IN_PATH, refusal_headers
from pressbox.core.web.identity import (
    SECOND_FACTOR_PATH,
    Identity,
    SignedInIdentity,
    actor_of,
    client_of,
    session_secret,
)
from pressbox.core.web.pages.account_context import second_factor_context
from pressbox.core.web.proof import ProvedIdentity
from pressbox.core.web.rendering import render
from pressbox.core.web.sign_in import SECOND_STEP_PATH, begin_session, sign_in_page

router = APIRouter(include_in_schema=False)

Accounts = Annotated[AccountService, Depends(account_service)]
Factors = Annotated[SecondFactors, Depends(second_factors)]
Text = Annotated[str, Form()]
PAGE = SECOND_FACTOR_PATH
APP_PAGE = f"{PAGE}/app"
SECOND_FACTOR_MESSAGES = {
    "app-removed": "The authenticator app is switched off.",
    "passkey": "The passkey is added.",
    "passkey-removed": "The passkey is removed and no longer works.",
}
REFUSALS = (InvalidInputError, ConflictError, RateLimitedError)


@router.get(PAGE)
async def show(request: Request, identity: SignedInIdentity, done: str = "") -> Response:
    return await _page(request, identity, message=SECOND_FACTOR_MESSAGES.get(done))


@router.post(APP_PAGE)
async def begin_app(identity: ProvedIdentity, factors: Factors) -> Response:
    await factors.begin_app(identity.user_id)
    return _redirect(APP_PAGE)


@router.get(APP_PAGE)
async def show_app(request: Request, identity: ProvedIdentity, accounts: Accounts, factors: Factors) -> Response:
    try:
        return await _app_page(request, await accounts.user(identity.user_id), factors)
    except NotFoundError:
        return _redirect(PAGE)


@router.post(f"{APP_PAGE}/confirm")
async def confirm_app(
    request: Request, identity: ProvedIdentity, accounts: Accounts, factors: Factors, code: Text = ""
) -> Response:
    try:
        codes = await factors.confirm_app(
            identity.user_id, code, actor=actor_of(request), keep_session=session_secret(request)
        )
    except InvalidInputError as error:
        return await _app_page(request, await accounts.user(identity.user_id), factors, error)
    return _show_codes(request, codes)


@router.post(f"{APP_PAGE}/remove")
async def remove_app(request: Request, identity: ProvedIdentity, factors: Factors) -> Response:
    await factors.remove_app(identity.user_id, actor=actor_of(request))
    return _redirect(f"{PAGE}?done=app-removed")


@router.post(f"{PAGE}/codes")
async def renew_codes(request: Request, identity: ProvedIdentity, factors: Factors) -> Response:
    return _show_codes(request, await factors.renew_recovery_codes(identity.user_id, actor=actor_of(request)))


@router.post(f"{PAGE}/passkeys/options")
async def passkey_options(request: Request, identity: ProvedIdentity, accounts: Accounts, factors: Factors) -> Response:
    secret, options = await factors.begin_passkey(await accounts.user(identity.user_id))
    return passkey_options_response(request, Kind.PASSKEY_REGISTRATION, secret, options)


@router.post(f"{PAGE}/passkeys")
async def add_passkey(
    request: Request, identity: ProvedIdentity, factors: Factors, name: Text = "", credential: Text = ""
) -> Response:
    try:
        codes = await factors.add_passkey(
            identity.user_id,
            read_ceremony(request, Kind.PASSKEY_REGISTRATION),
            name,
            credential,
            actor=actor_of(request),
            keep_session=session_secret(request),
        )
    except REFUSALS as error:
        return await _page(request, identity, error=error)
    response = _show_codes(request, codes) if codes else _redirect(f"{PAGE}?done=passkey")
    clear_ceremony(response, request.app.state.settings, Kind.PASSKEY_REGISTRATION)
    return response


@router.post(f"{PAGE}/passkeys/{{passkey_id}}/remove")
async def remove_passkey(
    request: Request,
    identity: ProvedIdentity,
    factors: Factors,
    passkey_id: Annotated[int, Path(ge=1, le=2**63 - 1)],
) -> Response:
    await factors.remove_passkey(identity.user_id, passkey_id, actor=actor_of(request))
    return _redirect(f"{PAGE}?done=passkey-removed")


# After the password


@router.get(SECOND_STEP_PATH)
async def second_step(request: Request, factors: Factors) -> Response:
    try:
        user, _ = await factors.waiting(read_ceremony(request, Kind.SECOND_FACTOR))
    except GoneError:
        return _redirect(SIGN_IN_PATH)
    return await _second_step_page(request, factors, user)


@router.post(SECOND_STEP_PATH)
async def finish_second_step(request: Request, factors: Factors, code: Text = "") -> Response:
    secret = read_ceremony(request, Kind.SECOND_FACTOR)
    user, target = await factors.waiting(secret)
    try:
        await factors.check_code(user.id, code, client=client_of(request))
    except REFUSALS as error:
        return await _second_step_page(request, factors, user, error)
    return await _end_second_step(request, factors, secret, user, target)


@router.post(f"{SECOND_STEP_PATH}/passkey/options")
async def second_step_options(request: Request, factors: Factors) -> Response:
    user, _ = await factors.waiting(read_ceremony(request, Kind.SECOND_FACTOR))
    secret, options = await factors.begin_passkey_sign_in(client_of(request), user_id=user.id)
    return passkey_options_response(request, Kind.PASSKEY_SIGN_IN, secret, options)


@router.post(f"{SECOND_STEP_PATH}/passkey")
async def second_step_passkey(request: Request, factors: Factors, credential: Text = "") -> Response:
    secret = read_ceremony(request, Kind.SECOND_FACTOR)
    user, target = await factors.waiting(secret)
    try:
        challenge = read_ceremony(request, Kind.PASSKEY_SIGN_IN)
        await factors.check_passkey(challenge, credential, client=client_of(request), user_id=user.id)
    except REFUSALS as error:
        return await _second_step_page(request, factors, user, error)
    return await _end_second_step(request, factors, secret, user, target)


# Instead of the password


@router.post(f"{SIGN_IN_PATH}/passkey/options")
async def sign_in_options(request: Request, factors: Factors) -> Response:
    secret, options = await factors.begin_passkey_sign_in(client_of(request))
    return passkey_options_response(request, Kind.PASSKEY_SIGN_IN, secret, options)


@router.post(f"{SIGN_IN_PATH}/passkey")
async def sign_in_by_passkey(request: Request, factors: Factors, credential: Text = "", next: Text = "") -> Response:
    challenge = read_ceremony(request, Kind.PASSKEY_SIGN_IN)
    try:
        user = await factors.check_passkey(challenge, credential, client=client_of(request))
    except REFUSALS as error:
        return sign_in_page(request, target=next, error=error)
    response = await begin_session(request, user, Proof.PASSKEY, next)
    clear_ceremony(response, request.app.state.settings, Kind.PASSKEY_SIGN_IN)
    return response


async def _page(
    request: Request, identity: Identity, *, message: str | None = None, error: PressboxError | None = None
) -> Response:
    context = await second_factor_context(request, identity)
    page = render(
        request,
        "second_factor.html",
        error.status if error else HTTPStatus.OK,
        identity=identity,
        message=message,
        error=error.message if error else None,
        **context,
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page


async def _app_page(
    request: Request, user: User, factors: SecondFactors, error: PressboxError | None = None
) -> Response:
    status = error.status if error else HTTPStatus.OK
    pending = await factors.pending_app(user)
    return render(request, "authenticator_app.html", status, app=pending, error=error.message if error else None)


async def _second_step_page(
    request: Request, factors: SecondFactors, user: User, error: PressboxError | None = None
) -> Response:
    page = render(
        request,
        "second_step.html",
        error.status if error else HTTPStatus.OK,
        factors=await factors.of(user),
        passkeys_possible=factors.passkeys_possible,
        error=error.message if error else None,
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page


async def _end_second_step(request: Request, factors: SecondFactors, secret: str, user: User, target: str) -> Response:
    await factors.end_second_step(secret)
    response = await begin_session(request, user, Proof.SECOND_FACTOR, target)
    clear_ceremony(response, request.app.state.settings, Kind.SECOND_FACTOR)
    return response


def _show_codes(request: Request, codes: tuple[str, ...]) -> Response:
    return render(request, "recovery_codes.html", codes=codes) if codes else _redirect(PAGE)


def _redirect(target: str) -> RedirectResponse:
    return RedirectResponse(target, status_code=HTTPStatus.SEE_OTHER)
