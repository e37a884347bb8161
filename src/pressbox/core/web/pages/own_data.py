"""The page on which people take their data along, or delete their account."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.ending import AccountEnding
from pressbox.core.accounts.models import Actor
from pressbox.core.clock import utc_now
from pressbox.core.errors import ConflictError, InvalidInputError, PressboxError
from pressbox.core.web.connection import account_ending
from pressbox.core.web.identity import actor_of, clear_session_cookie
from pressbox.core.web.proof import ProvedIdentity
from pressbox.core.web.rendering import render

router = APIRouter(include_in_schema=False)

Ending = Annotated[AccountEnding, Depends(account_ending)]
By = Annotated[Actor, Depends(actor_of)]
PATH = "/account/data"


@router.get(PATH)
async def data_page(request: Request, _: ProvedIdentity) -> Response:
    return _page(request)


@router.post(f"{PATH}/export")
async def export(ending: Ending, by: By, identity: ProvedIdentity) -> Response:
    return export_response(await ending.export(identity.user_id, by=by))


@router.post(f"{PATH}/delete")
async def delete(
    request: Request, ending: Ending, by: By, identity: ProvedIdentity, email: Annotated[str, Form()] = ""
) -> Response:
    """The address has to be typed: it cannot be undone."""
    try:
        if email.strip().lower() != identity.email:
            raise InvalidInputError("Type your e-mail address to confirm that you want to delete your account.")
        await ending.delete(identity.user_id, by=by)
    except (InvalidInputError, ConflictError) as error:
        return _page(request, error)
    response = RedirectResponse("/sign-in?done=deleted", status_code=303)
    clear_session_cookie(response, request.app.state.settings)
    return response


def export_response(content: bytes) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="pressbox-{utc_now():%Y-%m-%d}.zip"'}
    return Response(content, media_type="application/zip", headers=headers)


def _page(request: Request, error: PressboxError | None = None) -> Response:
    return render(request, "own_data.html", error.status if error else 200, error=error.message if error else None)
