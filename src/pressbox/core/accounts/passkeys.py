"""Passkeys (WebAuthn): what a browser is asked, and whether its answer holds. Pure, but for random challenges."""

import ipaddress
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import parse_authentication_credential_json
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticationCredential,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from pressbox.core.errors import ConflictError, InvalidInputError

NAME = "Pressbox"
CHALLENGE_BYTES = 32
HANDLE_BYTES = 32
MOST_PER_USER = 20
# An answer has a key and a signature; whatever is longer is none.
LONGEST_ANSWER = 20_000
# What the library raises for an answer that is not one: its own, and what parsing strangers' bytes brings.
_REFUSALS = (WebAuthnException, ValueError, TypeError, KeyError, IndexError, AttributeError)

NEEDS_PUBLIC_URL = (
    "Passkeys belong to one address, so they need PRESSBOX_WEB_PUBLIC_URL: https://… with a name, or "
    "http://localhost:… on this machine. Whoever runs this instance can set it."
)


@dataclass(frozen=True)
class RelyingParty:
    """The name that passkeys are bound to, and the only origin from which they are accepted."""

    id: str
    origin: str


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


def relying_party(public_url: str | None) -> RelyingParty | None:
    """None when browsers would refuse: no address, an IP address, or http other than on localhost."""
    try:
        parts = urlsplit((public_url or "").strip())
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return None
    if not host or _is_ip(host) or parts.scheme not in ("http", "https"):
        return None
    if parts.scheme == "http" and host != "localhost":
        return None
    usual = {"http": 80, "https": 443}[parts.scheme]
    return RelyingParty(host, f"{parts.scheme}://{host}" + ("" if port in (None, usual) else f":{port}"))


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
    options = generate_authentication_options(
        rp_id=party.id,
        challenge=challenge,
        allow_credentials=[PublicKeyCredentialDescriptor(id=credential) for credential in known],
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json(options)


def check_registration(party: RelyingParty, challenge: bytes, answer: str) -> NewPasskey:
    try:
        verified = verify_registration_response(
            credential=_bounded(answer),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    except _REFUSALS as error:
        raise InvalidInputError("The browser's answer cannot be used. Try to add the passkey again.") from error
    return NewPasskey(verified.credential_id, verified.credential_public_key, verified.sign_count)


def parse_sign_in(answer: str) -> AuthenticationCredential:
    try:
        return parse_authentication_credential_json(_bounded(answer))
    except _REFUSALS as error:
        raise refused() from error


def check_sign_in(
    party: RelyingParty, challenge: bytes, credential: AuthenticationCredential, stored: StoredPasskey
) -> int:
    """The new count of signatures. One that does not grow means that somebody has a copy of the key."""
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
    except _REFUSALS as error:
        raise refused() from error
    return verified.new_sign_count


def refused() -> InvalidInputError:
    """One text for every reason, so that nobody learns which keys there are."""
    return InvalidInputError("This passkey was not accepted. Try again, or sign in with your password.")


def _bounded(answer: str) -> str:
    if len(answer) > LONGEST_ANSWER:
        raise ValueError("Longer than an answer can be.")
    return answer


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
