"""A browser as a target: where its push service takes messages for it, and the keys that only it can open."""

from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey

from pressbox.core.errors import InvalidInputError
from pressbox.core.http.url import check_url, host_of

LONGEST_ENDPOINT = 2_000
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_UNUSABLE = "The browser gave a key that cannot be used. Turn messages off and on again."


@dataclass(frozen=True)
class PushTarget:
    """As the browser gave it, checked. The keys are base64url."""

    endpoint: str
    p256dh: str
    auth: str

    @property
    def host(self) -> str:
        return host_of(check_url(self.endpoint))


@dataclass(frozen=True)
class PushSubscription:
    """One browser of one person, and the language in which they read."""

    id: int
    user_id: int
    target: PushTarget
    language: str


def check_target(endpoint: str, p256dh: str, auth: str) -> PushTarget:
    """Refuse what no push service or browser would give; the guard refuses inner addresses when something is sent."""
    if len(endpoint) > LONGEST_ENDPOINT:
        raise InvalidInputError("The address of the push service is too long.", field="endpoint")
    url = check_url(endpoint)
    if url.scheme != "https" and host_of(url) not in _LOOPBACK:
        raise InvalidInputError("The address of a push service begins with https://.", field="endpoint")
    if len(_decode(auth)) != 16:
        raise InvalidInputError(_UNUSABLE, field="auth")
    try:
        EllipticCurvePublicKey.from_encoded_point(SECP256R1(), _decode(p256dh))
    except ValueError as error:
        raise InvalidInputError(_UNUSABLE, field="p256dh") from error
    return PushTarget(endpoint, p256dh, auth)


def _decode(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
    except (NotBase64, ValueError) as error:
        raise InvalidInputError(_UNUSABLE) from error
