"""Pages for whoever has forgotten the password, was invited, or takes another e-mail address."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.background import BackgroundTask
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.links import LinkPurpose
from pressbox.core.accounts.models import Actor
from pressbox.core.accounts.recovery import AccountRecovery
from pressbox.core.errors import ConflictError, InvalidInputError, PressboxError, RateLimitedError
from pressbox.core.web.account_mail import (
    CONFIRM_EMAIL,
    EMAIL_CHANGES,
    PASSWORD_CHANGED,
    RESET,
    mail_task,
    mailer_of,
    own_url,
    send_mail,
)
from pressbox.core.web.connection import account_recovery
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import actor_of, client_of
from pressbox.core.web.proof import ProvedIdentity
from pressbox.core.web.rendering import render

router = APIRouter(include_in_schema=False)

FORGOTTEN_PATH = "/forgotten-password"
CHOOSE_PATH = "/choose-password"
CONFIRM_PATH = "/confirm-email"
Recovery = Annotated[AccountRecovery, Depends(account_recovery)]
Text = Annotated[str, Form()]
NO_MAIL = (
    "This Pressbox sends no mail, so an address cannot be confirmed. An administrator can change it on the page of "
    "users."
)


@router.get(FORGOTTEN_PATH)
async def forgotten_form(request: Request) -> Response:
    return render(request, "forgotten.html", can_mail=mailer_of(request) is not None, sent=False, error=None, email="")


@router.post(FORGOTTEN_PATH)
async def forgotten(request: Request, recovery: Recovery, email: Text = "") -> Response:
    """The answer is the same, and as fast, whether or not anybody has this address."""
    can_mail = mailer_of(request) is not None
    try:
        await recovery.count_request(client_of(request))
    except RateLimitedError as error:
        return _refusal(request, "forgotten.html", error, can_mail=can_mail, sent=False, email=email)
    page = render(request, "forgotten.html", can_mail=can_mail, sent=True, error=None, email=email)
    if can_mail:
        page.background = BackgroundTask(_send_reset, request, recovery, email)
    return page


async def _send_reset(request: Request, recovery: AccountRecovery, email: str) -> None:
    made = await recovery.create_reset(email, client_of(request))
    if made is not None:
        await send_mail(request, made.user, RESET, link=own_url(request, f"{CHOOSE_PATH}?token={made.secret}"))


@router.get(CHOOSE_PATH)
async def choose_form(request: Request, recovery: Recovery, token: str = "") -> Response:
    purpose = await recovery.check_link(token, client_of(request))
    invited = purpose is LinkPurpose.INVITATION
    return render(request, "choose_password.html", token=token, invited=invited, error=None)


@router.post(CHOOSE_PATH)
async def choose(request: Request, recovery: Recovery, token: Text = "", password: Text = "") -> Response:
    """Signing in comes after it, with whatever else that needs."""
    try:
        user = await recovery.redeem_password_link(token, password, client_of(request))
    except (InvalidInputError, RateLimitedError) as error:
        return _refusal(request, "choose_password.html", error, token=token, invited=False)
    response = RedirectResponse("/sign-in?done=password", status_code=303)
    link = own_url(request, FORGOTTEN_PATH)
    response.background = mail_task(request, user, PASSWORD_CHANGED, link=link)
    return response


@router.post("/account/email")
async def ask_for_email(
    request: Request,
    recovery: Recovery,
    by: Annotated[Actor, Depends(actor_of)],
    identity: ProvedIdentity,
    email: Text = "",
) -> Response:
    try:
        if mailer_of(request) is None:
            raise ConflictError(NO_MAIL)
        change = await recovery.ask_for_email(identity.user_id, email, by=by)
    except (InvalidInputError, ConflictError, RateLimitedError) as error:
        return _refusal(request, "change_email.html", error, email=email)
    link = own_url(request, f"{CONFIRM_PATH}?token={change.link.secret}")
    await send_mail(request, change.link.user, CONFIRM_EMAIL, change.email, link=link)
    response = RedirectResponse("/account?done=email", status_code=303)
    response.background = mail_task(request, change.link.user, EMAIL_CHANGES, link=own_url(request, "/account"))
    return response


@router.get("/account/email")
async def email_form(request: Request, identity: ProvedIdentity) -> Response:
    error = NO_MAIL if mailer_of(request) is None else None
    return render(request, "change_email.html", error=error, email="")


@router.get(CONFIRM_PATH)
async def confirm_form(request: Request, recovery: Recovery, token: str = "") -> Response:
    """Opening it changes nothing: mail programs open links by themselves."""
    return render(request, "confirm_email.html", token=token, email=await recovery.check_email_link(token))


@router.post(CONFIRM_PATH)
async def confirm_email(request: Request, recovery: Recovery, token: Text = "") -> Response:
    await recovery.confirm_email(token, client_of(request))
    return RedirectResponse("/account?done=email-confirmed", status_code=303)


def _refusal(request: Request, template: str, error: PressboxError, **context: object) -> Response:
    page = render(request, template, error.status, error=error.message, **context)
    page.headers.update(refusal_headers(error))
    return page
