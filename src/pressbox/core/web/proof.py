"""Proof that it is really them: asked for again before lasting credentials are made and accounts are changed.

A route takes `ProvedIdentity` instead of `SignedInIdentity`. Whoever has proved it within the last minutes goes on;
everybody else is led to the page /account/proof and back. Templates ask `identity.proved_recently` and show a
link there instead of a form that would be refused. A new way to prove calls `note_proof` when it succeeded.
"""

from typing import Annotated

from fastapi import Depends, Request

from pressbox.core.errors import ForbiddenError, ProofNeededError
from pressbox.core.web.connection import account_service, second_factors
from pressbox.core.web.identity import (
    Identity,
    Via,
    administrator,
    bearer_token,
    session_secret,
    signed_in,
)


async def require_recent_proof(identity: Annotated[Identity, Depends(signed_in)]) -> Identity:
    """Somebody who has shown within the last minutes that it is them."""
    if not identity.proved_recently:
        raise ProofNeededError(
            "Show again that it is you: open /account/proof in the browser, or send your password, with a second "
            "factor a code, to POST /api/account/proof. That holds for ten minutes."
        )
    return identity


async def require_second_factor(request: Request, identity: Identity) -> None:
    """Where the password itself is asked for: whoever has a second factor has shown that one, minutes ago at most."""
    if await second_factors(request).has_any(identity.user_id):
        await require_recent_proof(identity)


async def require_proved_administrator(identity: Annotated[Identity, Depends(administrator)]) -> Identity:
    """An administrator who has shown that it is them; a token with the scope admin was made for this."""
    return identity if identity.via is Via.TOKEN else await require_recent_proof(identity)


ProvedIdentity = Annotated[Identity, Depends(require_recent_proof)]
ProvedAdministrator = Annotated[Identity, Depends(require_proved_administrator)]


async def note_proof(request: Request, identity: Identity) -> None:
    """Whoever uses this session or token has shown just now that it is them."""
    accounts = account_service(request)
    if identity.via is Via.SESSION:
        await accounts.note_proof(session=session_secret(request))
    elif identity.via is Via.TOKEN:
        await accounts.note_proof(token=bearer_token(request.url.path, request.headers.get("authorization", "")))
    else:
        raise ForbiddenError("In the open mode there is nothing to prove.")
