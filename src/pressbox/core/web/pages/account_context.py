"""What the section about second factors shows, on the account page and on a page of its own."""

from typing import Any

from fastapi import Request

from pressbox.core.web.connection import account_service, external_sign_in, second_factors
from pressbox.core.web.identity import Identity


async def second_factor_context(request: Request, identity: Identity) -> dict[str, Any]:
    factors, external = second_factors(request), external_sign_in(request)
    return {
        "factors": await factors.of(await account_service(request).user(identity.user_id)),
        "passkeys_possible": factors.passkeys_possible,
        "provider_button": external.provider_button,
        "connected": await external.is_connected(identity.user_id),
    }
