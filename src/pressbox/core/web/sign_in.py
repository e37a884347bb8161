"""The end of every way to sign in: somebody has proved who they are, and gets a session."""

from http import HTTPStatus

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.models import Proof, SignedIn, User
from pressbox.core.web.account_mail import NEW_DEVICE, mail_task, own_url
from pressbox.core.web.browsers import browser_in_words
from pressbox.core.web.connection import account_service
from pressbox.core.web.errors import safe_next
from pressbox.core.web.identity import client_of, session_secret, set_session_cookies


async def complete_sign_in(request: Request, user: User, proof: Proof, target: str = "/") -> Response:
    """Begin the session and go where they wanted to. Whatever else must be shown first is decided here."""
    begun = await account_service(request).begin_session(
        user, client_of(request), proof, previous_session=session_secret(request)
    )
    return open_session(request, begun, target)


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
