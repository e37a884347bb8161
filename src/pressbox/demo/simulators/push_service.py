"""A push service of our own, and browsers that are subscribed to it: they open what was encrypted for them.

It refuses what a real one refuses: a browser it does not know (404), a signature that is not good (403), more than
4,096 bytes (413).
"""

import json
import os
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from pressbox.demo.simulators.http_service import Answer, HttpService, Request

MOST_BYTES = 4096
LONGEST_SIGNATURE_SECONDS = 24 * 3600
_SALT_BYTES, _SIZE_BYTES = 16, 4
# The byte after the last letter of the last record.
_END = 2


def decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


@dataclass(frozen=True)
class SimulatedBrowser:
    """A browser with its keys: what was encrypted for it, it alone can read."""

    endpoint: str
    private_key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()), repr=False)
    auth: bytes = field(default_factory=lambda: os.urandom(16), repr=False)

    @classmethod
    def with_keys(cls, endpoint: str, private_key: str, auth: str) -> "SimulatedBrowser":
        number = int.from_bytes(decode(private_key), "big")
        return cls(endpoint, derive_private_key(number, SECP256R1()), decode(auth))

    @property
    def public_key(self) -> bytes:
        return self.private_key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def subscription(self) -> Mapping[str, Any]:
        """As the browser's own `PushSubscription` says it."""
        return {"endpoint": self.endpoint, "keys": {"p256dh": encode(self.public_key), "auth": encode(self.auth)}}

    def decrypt(self, body: bytes) -> bytes:
        """What a message says (RFC 8291, of one record)."""
        salt, rest = body[:_SALT_BYTES], body[_SALT_BYTES + _SIZE_BYTES :]
        sender, sealed = rest[1 : 1 + rest[0]], rest[1 + rest[0] :]
        shared = self.private_key.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(SECP256R1(), sender))
        secret = _derive(self.auth, shared, b"WebPush: info\0" + self.public_key + sender, 32)
        key = _derive(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _derive(salt, secret, b"Content-Encoding: nonce\0", 12)
        padded = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0")
        if not padded or padded[-1] != _END:
            raise ValueError("The record has no end.")
        return padded[:-1]


@dataclass(frozen=True)
class Pushed:
    """A message as the push service got it, and as the browser reads it."""

    key: str
    headers: Mapping[str, str]
    body: bytes
    content: Mapping[str, Any]


class PushService(HttpService):
    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.browsers: dict[str, SimulatedBrowser] = {}
        self.received: list[Pushed] = []
        self.most_bytes = MOST_BYTES

    def add_browser(self, name: str) -> SimulatedBrowser:
        self.browsers[name] = SimulatedBrowser(f"{self.url}/{name}")
        return self.browsers[name]

    def of(self, name: str) -> list[Mapping[str, Any]]:
        """What this browser was told, oldest first."""
        return [pushed.content for pushed in self.received if pushed.key == name]

    async def answer(self, request: Request) -> Answer:
        browser = self.browsers.get(self.key_of(request))
        if browser is None:
            return Answer(HTTPStatus.NOT_FOUND)
        if len(request.body) > self.most_bytes:
            return Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if not is_signed(request.headers.get("authorization", ""), self.url):
            return Answer(HTTPStatus.FORBIDDEN)
        content = json.loads(browser.decrypt(request.body))
        self.received.append(Pushed(self.key_of(request), dict(request.headers), request.body, content))
        return Answer(HTTPStatus.CREATED, headers={"Location": f"{self.url}/message/{len(self.received)}"})

    async def inspect(self, request: Request) -> Answer:
        key = request.first("key")
        return Answer.of([dict(one.content) for one in self.received if key in (None, one.key)])

    def forget(self) -> None:
        self.received.clear()


def is_signed(authorization: str, audience: str) -> bool:
    """Whether it is a good VAPID token (RFC 8292) for this push service that ends within a day."""
    scheme, _, rest = authorization.partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
    if scheme.lower() != "vapid" or not {"t", "k"} <= parts.keys():
        return False
    point = decode(parts["k"])
    key = ECKey.import_key({"kty": "EC", "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:65])})
    try:
        claims = jwt.decode(parts["t"], key, algorithms=["ES256"]).claims
    except JoseError:
        return False
    rest_of_life = float(claims.get("exp", 0)) - time.time()
    contact = str(claims.get("sub", ""))
    return (
        claims.get("aud") == audience
        and 0 < rest_of_life <= LONGEST_SIGNATURE_SECONDS
        and contact.startswith(("mailto:", "https://"))
    )


def _derive(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)
