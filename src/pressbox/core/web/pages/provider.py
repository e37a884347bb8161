"""Sign-in by an OpenID provider on pages: the way there, the way back, connecting and proving."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.ceremonies import Kind
from pressbox.core.accounts.external import ExternalSignIn, Purpose
from pressbox.core.accounts.models import Proof
from pressbox.core.accounts.oidc import CALLBACK_PATH
from pressbox.core.config import Settings
from pressbox.core.errors import TransientError
from pressbox.core.web.ceremonies import clear_ceremony, read_ceremony, set_ceremony
from pressbox.core.web.connection import external_sign_in
from pressbox.core.web.errors import safe_next
from pressbox.core.web.identity import MaybeIdentity, SignedInIdentity, actor_of, client_of
from pressbox.core.web.pages.second_factor import PAGE as SECOND_FACTOR_PAGE
from pressbox.core.web.proof import ProvedIdentity, note_proof
from pressbox.core.web.rendering import render
from pressbox.core.web.sign_in import begin_session

router = APIRouter(include_in_schema=False)

External = Annotated[ExternalSignIn, Depends(external_sign_in)]
Text = Annotated[str, Form()]


@router.get("/sign-in/oidc")
async def leave(request: Request, external: External, next: str = "") -> Response:
    """A link and no form: the content rules let a form end on our own pages only."""
    secret, address = await external.leave(client_of(request), Purpose.SIGN_IN, safe_next(next))
    response = RedirectResponse(address, status_code=HTTPStatus.SEE_OTHER)
    set_ceremony(response, request.app.state.settings, Kind.OIDC, secret)
    return response


@router.get(CALLBACK_PATH)
async def come_back(request: Request, external: External, identity: MaybeIdentity) -> Response:
    parameters = {name: value for name, value in request.query_params.items() if len(value) < 10_000}
    returned = await external.come_back(
        read_ceremony(request, Kind.OIDC),
        parameters,
        client=client_of(request),
        signed_in=identity.user_id if identity else None,
    )
    if returned.purpose is Purpose.SIGN_IN:
        response = await begin_session(request, returned.user, Proof.PROVIDER, returned.target)
    else:
        if returned.purpose is Purpose.PROVE and identity is not None:
            await note_proof(request, identity)
        response = RedirectResponse(returned.target, status_code=HTTPStatus.SEE_OTHER)
    clear_ceremony(response, request.app.state.settings, Kind.OIDC)
    return response


@router.post("/account/provider/connect")
async def connect(request: Request, external: External, identity: ProvedIdentity) -> Response:
    return await _send(request, external, Purpose.CONNECT, SECOND_FACTOR_PAGE, identity.user_id)


@router.post("/account/provider/disconnect")
async def disconnect(request: Request, external: External, identity: ProvedIdentity) -> Response:
    await external.disconnect(identity.user_id, actor=actor_of(request))
    return RedirectResponse(SECOND_FACTOR_PAGE, status_code=HTTPStatus.SEE_OTHER)


@router.post("/account/proof/provider")
async def prove(request: Request, external: External, identity: SignedInIdentity, next: Text = "") -> Response:
    return await _send(request, external, Purpose.PROVE, safe_next(next, "/account"), identity.user_id)


@router.get("/signed-out")
async def signed_out(request: Request, external: External) -> Response:
    """For people who signed in elsewhere, and may want to sign out there as well."""
    settings: Settings = request.app.state.settings
    address = settings.trusted_header.sign_out_url if settings.trusted_header.enabled else None
    try:
        address = address or await external.sign_out_address(f"{settings.web.public_url or ''}/sign-in")
    except TransientError:
        # The provider is away; the page is true without its address.
        address = None
    return render(request, "signed_out.html", address=address)


async def _send(request: Request, external: ExternalSignIn, purpose: Purpose, target: str, user_id: int) -> Response:
    """A page with a link, since a form may not end on another site."""
    secret, address = await external.leave(client_of(request), purpose, target, user_id=user_id)
    page = render(request, "to_provider.html", button=external.provider_button, purpose=purpose, address=address)
    set_ceremony(page, request.app.state.settings, Kind.OIDC, secret)
    return page
