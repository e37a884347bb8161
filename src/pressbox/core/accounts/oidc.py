"""OpenID Connect, the decisions: what is asked of a provider, and whether its answer holds. Pure."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from pressbox.core.accounts.admission import ExternalPerson
from pressbox.core.accounts.sign_in_ways import LOOPBACK
from pressbox.core.config import OidcSettings
from pressbox.core.errors import ForbiddenError, PermanentError

CALLBACK_PATH = "/sign-in/oidc/callback"
DISCOVERY_PATH = "/.well-known/openid-configuration"
CLOCK_SKEW = timedelta(seconds=60)
# A fresh sign-in, as a proof, may lie back that far.
FRESH = timedelta(minutes=5)
# Signatures by a key that only the provider has. None, and those by a shared secret, are not among them.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
LONGEST_SUBJECT = 255


class OidcError(ForbiddenError):
    """The provider's answer is not accepted. The text is for the person, the reason for the log."""

    code = "oidc_refused"


class UnknownKeyError(PermanentError):
    """The token is signed by a key that we have not fetched yet."""


@dataclass(frozen=True)
class Provider:
    """What a provider says of itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None
    # RFC 9207: the answer names its issuer, so that one provider cannot pass for another.
    names_issuer: bool = False
    basic_authentication: bool = True


@dataclass(frozen=True)
class Request:
    """What one trip to the provider carries; all of it is kept for the browser that went."""

    state: str
    nonce: str
    verifier: str


def callback_url(public_url: str) -> str:
    return public_url.rstrip("/") + CALLBACK_PATH


def new_request() -> Request:
    return Request(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))


def read_provider(document: object, issuer: str) -> Provider:
    """The discovery document, which must be that of the issuer we were told of."""
    if not isinstance(document, dict) or document.get("issuer") != issuer:
        raise OidcError("The provider calls itself by another name than PRESSBOX_OIDC_ISSUER. They must be the same.")
    more, leave = (_safe_address(document, name, issuer) for name in ("userinfo_endpoint", "end_session_endpoint"))
    ways = document.get("token_endpoint_auth_methods_supported")
    return Provider(
        issuer,
        authorization_endpoint=_required_address(document, "authorization_endpoint", issuer),
        token_endpoint=_required_address(document, "token_endpoint", issuer),
        jwks_uri=_required_address(document, "jwks_uri", issuer),
        userinfo_endpoint=more,
        end_session_endpoint=leave,
        names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        basic_authentication=not isinstance(ways, list) or "client_secret_basic" in ways,
    )


def authorization_url(
    provider: Provider, settings: OidcSettings, request: Request, redirect_uri: str, *, again: bool = False
) -> str:
    """Where to send the browser. `again` asks the provider to have the person sign in now, whatever it remembers."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(request.verifier.encode()).digest()).rstrip(b"=").decode()
    parameters = {
        "response_type": "code",
        "client_id": settings.client_id or "",
        "redirect_uri": redirect_uri,
        "scope": " ".join(settings.scopes),
        "state": request.state,
        "nonce": request.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        **({"prompt": "login", "max_age": "0"} if again else {}),
    }
    separator = "&" if urlsplit(provider.authorization_endpoint).query else "?"
    return provider.authorization_endpoint + separator + urlencode(parameters)


def check_response(provider: Provider, request: Request, parameters: Mapping[str, str]) -> str:
    """The code, from a response that belongs to the trip this browser began."""
    if not hmac.compare_digest(parameters.get("state", "").encode(), request.state.encode()):
        raise OidcError("This answer does not belong to a sign-in that began in this browser. Begin again.")
    named = parameters.get("iss")
    if named != provider.issuer and (named is not None or provider.names_issuer):
        raise OidcError("The answer comes from another provider. Begin again.")
    if "error" in parameters:
        denied = parameters["error"] in ("access_denied", "login_required", "interaction_required")
        words = "The provider did not let you in." if denied else "The provider could not sign you in."
        raise OidcError(f"{words} Begin again, or ask whoever runs it.", reason=parameters["error"][:60])
    if not parameters.get("code"):
        raise OidcError("The provider's answer has no code. Begin again.")
    return parameters["code"]


def read_id_token(
    token: str, keys: KeySet, provider: Provider, settings: OidcSettings, nonce: str, now: datetime
) -> dict[str, Any]:
    """The claims of a token that this provider signed, for us, for this trip, not long ago."""
    try:
        decoded = jwt.decode(token, keys, algorithms=list(ALGORITHMS))
        _claims_registry(provider, settings, now).validate(decoded.claims)
    except InvalidKeyIdError as error:
        raise UnknownKeyError("The token is signed by an unknown key.") from error
    # The library raises ValueError for some tokens that are not tokens.
    except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise OidcError(_NOT_ACCEPTED, reason=f"{type(error).__name__}: {error}"[:200]) from error
    claims = dict(decoded.claims)
    presented = claims.get("nonce")
    if not isinstance(presented, str) or not hmac.compare_digest(presented.encode(), nonce.encode()):
        raise OidcError(_NOT_ACCEPTED, reason="nonce")
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if (several or "azp" in claims) and claims.get("azp") != settings.client_id:
        raise OidcError(_NOT_ACCEPTED, reason="azp")
    if not claims["sub"] or len(claims["sub"]) > LONGEST_SUBJECT or "\0" in claims["sub"]:
        raise OidcError(_NOT_ACCEPTED, reason="sub")
    return claims


def is_fresh(claims: Mapping[str, Any], now: datetime) -> bool:
    """Whether the person signed in at the provider just now, and not some time ago."""
    signed_in = claims.get("auth_time")
    if isinstance(signed_in, bool) or not isinstance(signed_in, int | float):
        return False
    age = now.timestamp() - signed_in
    return -CLOCK_SKEW.total_seconds() <= age <= FRESH.total_seconds()


def person_of(claims: Mapping[str, Any], settings: OidcSettings) -> ExternalPerson:
    email, name = claims.get("email"), claims.get("name") or claims.get("preferred_username")
    return ExternalPerson(
        provider=settings.issuer or "",
        subject=claims["sub"],
        email=email if isinstance(email, str) and email else None,
        # Some providers write it as a word.
        email_verified=claims.get("email_verified") in (True, "true"),
        name=name if isinstance(name, str) else "",
        groups=_groups(claims, settings.groups_claim),
    )


def _claims_registry(provider: Provider, settings: OidcSettings, now: datetime) -> jwt.JWTClaimsRegistry:
    return jwt.JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=int(CLOCK_SKEW.total_seconds()),
        iss={"essential": True, "value": provider.issuer},
        aud={"essential": True, "value": settings.client_id or ""},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True},
    )


def _groups(claims: Mapping[str, Any], path: str) -> frozenset[str]:
    found: Any = claims.get(path)
    if found is None:
        found = claims
        for step in path.split("."):
            found = found.get(step) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        return frozenset({found})
    return frozenset(group for group in found if isinstance(group, str)) if isinstance(found, list) else frozenset()


def _required_address(document: Mapping[str, Any], name: str, issuer: str) -> str:
    address = _safe_address(document, name, issuer)
    if address is None:
        raise OidcError("The provider's description of itself lacks an address, or names an unsafe one.", reason=name)
    return address


def _safe_address(document: Mapping[str, Any], name: str, issuer: str) -> str | None:
    """https, or the plain http that the issuer itself may use on this machine."""
    address = document.get(name)
    if not isinstance(address, str):
        return None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    local = issuer.startswith("http://") and parts.hostname in LOOPBACK
    return address if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and local)) else None


_NOT_ACCEPTED = "The provider's answer was not accepted. Begin again; if it keeps happening, the log has the reason."
