"""Forms of the account: set-up, sign in and out, password, tokens, sessions, language. They work without scripts."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Path, Request
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts import tokens as token_rules
from pressbox.core.accounts.audit import AuditEntry, AuditFilter, AuditLog, seen_by_subject
from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import Actor, Proof, Scope
from pressbox.core.accounts.opaque import well_formed
from pressbox.core.accounts.proxies import note_untrusted_proxy
from pressbox.core.accounts.service import AccountService
from pressbox.core.errors import ConflictError, InvalidInputError, PressboxError, RateLimitedError
from pressbox.core.spoilers.choice import choose
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.core.web.account_mail import PASSWORD_CHANGED, mail_task, own_url
from pressbox.core.web.connection import account_life_cycle, account_service, connected
from pressbox.core.web.errors import refusal_headers, safe_next
from pressbox.core.web.identity import (
    Identity,
    MaybeIdentity,
    SignedInIdentity,
    Via,
    actor_of,
    clear_session_cookie,
    client_of,
    is_secure,
    session_secret,
)
from pressbox.core.web.languages import LANGUAGES
from pressbox.core.web.pages.account_context import second_factor_context
from pressbox.core.web.proof import ProvedIdentity, require_second_factor
from pressbox.core.web.rates import quota_service
from pressbox.core.web.rendering import render
from pressbox.core.web.sign_in import complete_sign_in, open_session, sign_in_page

router = APIRouter(include_in_schema=False)

Accounts = Annotated[AccountService, Depends(account_service)]
LifeCycle = Annotated[AccountLifeCycle, Depends(account_life_cycle)]
By = Annotated[Actor, Depends(actor_of)]
Text = Annotated[str, Form()]

# Carries a new token over the redirect, for this page of this browser and a minute at most.
NEW_TOKEN_COOKIE = "pressbox_new_token"  # noqa: S105
NEW_TOKEN_SECONDS = 60

NOT_SET_UP = (
    "Pressbox is not set up yet. Open the set-up link that `pressbox up` printed; `pressbox user setup-link` prints a "
    "new one."
)
SIGN_IN_MESSAGES = {
    "password": "Your password is saved. Sign in with it now.",
    "deleted": "Your account is deleted.",
}
MESSAGES = {
    "password": "Your password is changed. All other sessions have ended, and so has what you did not keep.",
    "profile": "Saved.",
    "spoilers": "Saved. It counts everywhere from now on.",
    "email": "We have sent a mail to the new address. It counts once you have opened the link in it.",
    "email-confirmed": "Your new address counts from now on.",
    "revoked": "The token is removed and no longer works.",
}
RECENT = 15
_REFUSALS = (InvalidInputError, ConflictError, RateLimitedError)


@router.get("/set-up")
async def set_up_form(request: Request, accounts: Accounts, token: str = "") -> Response:
    await accounts.check_setup_link(token)
    return render(request, "setup.html", token=token, error=None, field=None, values={})


@router.post("/set-up")
async def set_up(
    request: Request, accounts: Accounts, token: Text = "", email: Text = "", name: Text = "", password: Text = ""
) -> Response:
    client = client_of(request)
    try:
        begun = await accounts.redeem_setup_link(token, email=email, password=password, name=name, client=client)
    except _REFUSALS as error:
        kept = {"email": email, "name": name}
        return _show_form_again(request, "setup.html", error, token=token, field=_field(error), values=kept)
    return open_session(request, begun)


@router.get("/sign-in")
async def sign_in_form(
    request: Request, accounts: Accounts, identity: MaybeIdentity, next: str = "", done: str = ""
) -> Response:
    target = safe_next(next)
    if identity is not None:
        return _redirect(target)
    message = SIGN_IN_MESSAGES.get(done)
    notice = None if await accounts.set_up() else NOT_SET_UP
    return sign_in_page(request, target=target, notice=notice, message=message)


@router.post("/sign-in")
async def sign_in(
    request: Request, accounts: Accounts, email: Text = "", password: Text = "", next: Text = ""
) -> Response:
    if request.state.untrusted_proxy:
        await note_untrusted_proxy(connected(request).database, request.state.untrusted_proxy)
    try:
        user = await accounts.check_password(email, password, client=client_of(request))
    except _REFUSALS as error:
        return sign_in_page(request, target=next, email=email, error=error)
    return await complete_sign_in(request, user, Proof.PASSWORD, next)


@router.post("/sign-out")
async def sign_out(request: Request, accounts: Accounts, identity: MaybeIdentity) -> Response:
    secret = session_secret(request)
    if secret is not None:
        await accounts.sign_out(secret)
    elsewhere = identity is not None and (identity.via is Via.PROXY or identity.proof is Proof.PROVIDER)
    return _sign_out_response(request, "/signed-out" if elsewhere else "/sign-in")


@router.get("/account")
async def account(request: Request, accounts: Accounts, identity: SignedInIdentity, done: str = "") -> Response:
    carried = request.cookies.get(NEW_TOKEN_COOKIE, "")
    new_token = carried if well_formed(carried, token_rules.PREFIX) else None
    page = await _account_page(request, accounts, identity, message=MESSAGES.get(done), new_token=new_token)
    if carried:
        page.delete_cookie(NEW_TOKEN_COOKIE, path="/account", httponly=True, samesite="strict")
    return page


@router.post("/account/password")
async def change_password(
    request: Request,
    accounts: Accounts,
    life_cycle: LifeCycle,
    by: By,
    identity: SignedInIdentity,
    current_password: Text = "",
    new_password: Text = "",
    keep: Annotated[list[str] | None, Form()] = None,
) -> Response:
    await require_second_factor(request, identity)
    try:
        await life_cycle.change_password(
            identity.user_id,
            current_password,
            new_password,
            by=by,
            keep=keep or (),
            keep_session=session_secret(request),
            proved=identity.proved_recently,
        )
    except _REFUSALS as error:
        return await _account_page(request, accounts, identity, refusal=error)
    response = _redirect("/account?done=password")
    link = own_url(request, "/forgotten-password")
    response.background = mail_task(request, await accounts.user(identity.user_id), PASSWORD_CHANGED, link=link)
    return response


@router.post("/account/profile")
async def change_profile(
    request: Request,
    accounts: Accounts,
    identity: SignedInIdentity,
    language: Text = "",
    display_name: Annotated[str | None, Form()] = None,
) -> Response:
    """Who one is and how one is addressed. A form without a name leaves it as it is."""
    try:
        if language and language not in LANGUAGES:
            raise InvalidInputError("This language is not known.", field="language")
        if display_name is not None:
            await accounts.set_name(identity.user_id, display_name)
        await accounts.set_language(identity.user_id, language or None)
    except InvalidInputError as error:
        return await _account_page(request, accounts, identity, refusal=error)
    return _redirect("/account?done=profile")


@router.post("/account/spoilers")
async def choose_spoilers(
    request: Request,
    accounts: Accounts,
    identity: SignedInIdentity,
    spoiler_mode: Text = "",
    spoiler_minutes: Text = "",
) -> Response:
    """Whether scores are shown at once, on demand, or some minutes later."""
    try:
        minutes = int(spoiler_minutes) if _is_number(spoiler_minutes) else None
        choice = choose(spoiler_mode, minutes)
        await PersonalSpoilers(connected(request).database).choose(identity.user_id, choice)
    except InvalidInputError as error:
        return await _account_page(request, accounts, identity, refusal=error)
    return _redirect("/account?done=spoilers#spoilers")


@router.post("/account/tokens")
async def add_token(
    request: Request,
    accounts: Accounts,
    by: By,
    identity: ProvedIdentity,
    name: Text = "",
    scopes: Annotated[list[Scope] | None, Form()] = None,
) -> Response:
    try:
        created = await accounts.add_token(identity.user_id, name, scopes or (), by=by)
    except _REFUSALS as error:
        return await _account_page(request, accounts, identity, refusal=error)
    response = _redirect("/account")
    response.set_cookie(
        NEW_TOKEN_COOKIE,
        created.secret,
        max_age=NEW_TOKEN_SECONDS,
        path="/account",
        secure=is_secure(request.app.state.settings),
        httponly=True,
        samesite="strict",
    )
    return response


@router.post("/account/tokens/{token_id}/revoke")
async def revoke_token(
    accounts: Accounts, by: By, identity: SignedInIdentity, token_id: Annotated[int, Path(ge=1, le=2**63 - 1)]
) -> Response:
    await accounts.revoke_token(identity.user_id, token_id, by=by)
    return _redirect("/account?done=revoked")


@router.post("/account/sessions/end")
async def end_sessions(request: Request, accounts: Accounts, by: By, identity: SignedInIdentity) -> Response:
    await accounts.sign_out_everywhere(identity.user_id, by=by)
    return _sign_out_response(request)


async def _account_page(
    request: Request,
    accounts: AccountService,
    identity: Identity,
    *,
    message: str | None = None,
    new_token: str | None = None,
    refusal: PressboxError | None = None,
) -> Response:
    sections = [one.account_section for one in request.app.state.manifests if one.account_section is not None]
    shown: dict[str, Any] = {}
    for section in sections:
        shown |= await section.load(connected(request), identity.user_id)
    page = render(
        request,
        "account.html",
        refusal.status if refusal else HTTPStatus.OK,
        identity=identity,
        tokens=await accounts.tokens(identity.user_id),
        quotas=await quota_service(request).list(identity.user_id),
        sessions=await accounts.sessions(identity.user_id, current=session_secret(request)),
        credentials=await account_life_cycle(request).credentials(identity.user_id),
        entries=await _own_entries(request, identity.user_id),
        spoilers=await PersonalSpoilers(connected(request).database).load_choice(identity.user_id),
        sections=[section.template for section in sections],
        new_token=new_token,
        message=message,
        error=refusal.message if refusal else None,
        field=_field(refusal) if refusal else None,
        **shown,
        **await second_factor_context(request, identity),
    )
    page.headers.update(refusal_headers(refusal) if refusal else {})
    return page


async def _own_entries(request: Request, user_id: int) -> list[AuditEntry]:
    entries = await AuditLog(connected(request).database).read(AuditFilter(user_id=user_id), RECENT)
    return [seen_by_subject(entry, user_id) for entry in entries]


def _show_form_again(request: Request, template: str, error: PressboxError, **context: object) -> Response:
    """The form again, with what was typed except passwords, and what to do about it."""
    page = render(request, template, error.status, error=error.message, **context)
    page.headers.update(refusal_headers(error))
    return page


def _is_number(text: str) -> bool:
    return text.strip().isascii() and text.strip().isdigit() and len(text.strip()) < 6


def _field(error: PressboxError) -> str | None:
    return error.field if isinstance(error, InvalidInputError) else None


def _sign_out_response(request: Request, target: str = "/sign-in") -> Response:
    response = _redirect(target)
    clear_session_cookie(response, request.app.state.settings)
    return response


def _redirect(target: str) -> RedirectResponse:
    return RedirectResponse(target, status_code=HTTPStatus.SEE_OTHER)
