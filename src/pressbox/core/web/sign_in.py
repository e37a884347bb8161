"""The end of every way to sign in: somebody has proved who they are, and gets a session."""

from http import HTTPStatus

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.ceremonies import Kind
from pressbox.core.accounts.models import SINGLE_FACTOR, Proof, SignedIn, User
from pressbox.core.errors import PressboxError
from pressbox.core.web.account_mail import NEW_DEVICE, mail_task, own_url
from pressbox.core.web.browsers import browser_in_words
from pressbox.core.web.ceremonies import set_ceremony
from pressbox.core.web.connection import account_service, external_sign_in, second_factors
from pressbox.core.web.errors import refusal_headers, safe_next
from pressbox.core.web.identity import client_of, session_secret, set_session_cookies
from pressbox.core.web.rendering import render

SECOND_STEP_PATH = "/sign-in/second"


async def complete_sign_in(request: Request, user: User, proof: Proof, target: str = "/") -> Response:
    """Begin the session and go where they wanted to; before that, ask for the second factor of whoever has one."""
    factors = second_factors(request)
    if proof in SINGLE_FACTOR and await factors.has_any(user.id):
        response = RedirectResponse(SECOND_STEP_PATH, status_code=HTTPStatus.SEE_OTHER)
        secret = await factors.begin_second_step(user.id, safe_next(target))
        set_ceremony(response, request.app.state.settings, Kind.SECOND_FACTOR, secret)
        return response
    return await begin_session(request, user, proof, target)


async def begin_session(request: Request, user: User, proof: Proof, target: str = "/") -> Response:
    """For somebody who has shown all that they have to."""
    begun = await account_service(request).begin_session(
        user, client_of(request), proof, previous_session=session_secret(request)
    )
    return open_session(request, begun, target)


def sign_in_page(
    request: Request,
    *,
    target: str = "",
    email: str = "",
    error: PressboxError | None = None,
    notice: str | None = None,
    message: str | None = None,
) -> Response:
    """All the ways in, with what was typed except passwords, and what to do about what went wrong."""
    page = render(
        request,
        "sign_in.html",
        error.status if error else HTTPStatus.OK,
        error=error.message if error else notice,
        message=message,
        next=safe_next(target),
        values={"email": email},
        provider_button=external_sign_in(request).provider_button,
        passkeys_possible=second_factors(request).passkeys_possible,
    )
    page.headers.update(refusal_headers(error) if error else {})
    return page


def open_session(request: Request, begun: SignedIn, target: str = "/") -> Response:
    """The answer that gives a session to the browser."""
    response = RedirectResponse(safe_next(target), status_code=HTTPStatus.SEE_OTHER)
    set_session_cookies(response, request.app.state.settings, begun)
    if begun.new_device:
        client = client_of(request)
        browser, link = browser_in_words(client.agent) or "?", own_url(request, "/account")
        response.background = mail_task(
            request, begun.user, NEW_DEVICE, browser=browser, address=client.address, link=link
        )
    return response
