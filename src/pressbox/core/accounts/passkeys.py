"""Passkeys (WebAuthn): what a browser is asked, and whether its answer holds. Pure, but for random challenges.

The library brings parsers of certificates and more; it is loaded by the first passkey, since most instances have none.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pressbox.core.accounts.sign_in_ways import RelyingParty, relying_party
from pressbox.core.errors import ConflictError, InvalidInputError

if TYPE_CHECKING:
    from webauthn.helpers.structs import AuthenticationCredential

NAME = "Pressbox"
CHALLENGE_BYTES = 32
HANDLE_BYTES = 32
MOST_PER_USER = 20
# An answer has a key and a signature; whatever is longer is none.
LONGEST_ANSWER = 20_000
# What parsing strangers' bytes brings, beside the library's own errors.
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)

NEEDS_PUBLIC_URL = (
    "Passkeys belong to one address, so the settings must name it: https://… with a name, or "
    "http://localhost:… on this machine. An administrator can enter it."
)


@dataclass(frozen=True)
class StoredPasskey:
    id: int
    user_id: int
    user_handle: bytes
    credential_id: bytes
    public_key: bytes
    sign_count: int


@dataclass(frozen=True)
class NewPasskey:
    credential_id: bytes
    public_key: bytes
    sign_count: int


def require_relying_party(public_url: str | None) -> RelyingParty:
    found = relying_party(public_url)
    if found is None:
        raise ConflictError(NEEDS_PUBLIC_URL)
    return found


def new_challenge() -> bytes:
    return secrets.token_bytes(CHALLENGE_BYTES)


def new_user_handle() -> bytes:
    return secrets.token_bytes(HANDLE_BYTES)


def registration_options(
    party: RelyingParty, challenge: bytes, *, user_handle: bytes, email: str, name: str, known: Sequence[bytes]
) -> str:
    """JSON for `navigator.credentials.create`: a key that finds its person by itself and asks for finger or PIN."""
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options = generate_registration_options(
        rp_id=party.id,
        rp_name=NAME,
        user_id=user_handle,
        user_name=email,
        user_display_name=name or email,
        challenge=challenge,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            require_resident_key=True,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=credential) for credential in known],
    )
    return options_to_json(options)


def sign_in_options(party: RelyingParty, challenge: bytes, *, known: Sequence[bytes] = ()) -> str:
    """JSON for `navigator.credentials.get`. Without `known` the browser offers all that it has for us."""
    from webauthn import generate_authentication_options, options_to_json
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor, UserVerificationRequirement

    options = generate_authentication_options(
        rp_id=party.id,
        challenge=challenge,
        allow_credentials=[PublicKeyCredentialDescriptor(id=credential) for credential in known],
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json(options)


def check_registration(party: RelyingParty, challenge: bytes, answer: str) -> NewPasskey:
    from webauthn import verify_registration_response
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        verified = verify_registration_response(
            credential=_bounded(answer),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    except (WebAuthnException, *_UNREADABLE) as error:
        raise InvalidInputError("The browser's answer cannot be used. Try to add the passkey again.") from error
    return NewPasskey(verified.credential_id, verified.credential_public_key, verified.sign_count)


def parse_sign_in(answer: str) -> AuthenticationCredential:
    from webauthn.helpers import parse_authentication_credential_json
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        return parse_authentication_credential_json(_bounded(answer))
    except (WebAuthnException, *_UNREADABLE) as error:
        raise refused() from error


def check_sign_in(
    party: RelyingParty, challenge: bytes, credential: AuthenticationCredential, stored: StoredPasskey
) -> int:
    """The new count of signatures. One that does not grow means that somebody has a copy of the key."""
    from webauthn import verify_authentication_response
    from webauthn.helpers.exceptions import WebAuthnException

    handle = credential.response.user_handle
    if handle is not None and not secrets.compare_digest(handle, stored.user_handle):
        raise refused()
    try:
        verified = verify_authentication_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=stored.public_key,
            credential_current_sign_count=stored.sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, *_UNREADABLE) as error:
        raise refused() from error
    return verified.new_sign_count


def refused() -> InvalidInputError:
    """One text for every reason, so that nobody learns which keys there are."""
    return InvalidInputError("This passkey was not accepted. Try again, or sign in with your password.")


def _bounded(answer: str) -> str:
    if len(answer) > LONGEST_ANSWER:
        raise ValueError("Longer than an answer can be.")
    return answer
