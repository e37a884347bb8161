"""An OpenID provider on loopback. Whoever comes is signed in at once as `person`; told to, it lies."""

import base64
import hashlib
import json
import secrets
import time
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlencode

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey

from pressbox.demo.simulators.behaviour import Behaviours
from pressbox.demo.simulators.http_service import Answer, HttpService, Request

CLIENT_ID = "pressbox"
CLIENT_SECRET = "kept between & both of us"  # noqa: S105
LIFE_SECONDS = 300


class Lie(StrEnum):
    """What is wrong with the next answers."""

    NONCE = "nonce"
    AUDIENCE = "audience"
    SEVERAL_AUDIENCES = "several audiences"
    ISSUER = "issuer"
    EXPIRED = "expired"
    FUTURE = "future"
    UNSIGNED = "unsigned"
    SHARED_SECRET = "shared secret"  # noqa: S105
    FOREIGN_KEY = "foreign key"
    FOREIGN_KEY_SAME_ID = "foreign key, same id"
    NO_TOKEN = "no token"  # noqa: S105
    NO_SUBJECT = "no subject"
    OTHER_PERSON = "other person"
    RESPONSE_ISSUER = "response issuer"
    OWN_NAME = "own name"
    DENIED = "denied"


@dataclass
class _Grant:
    challenge: str
    redirect_uri: str
    nonce: str
    claims: dict[str, Any]
    signed_in_at: float


@dataclass
class _State:
    person: dict[str, Any] = field(
        default_factory=lambda: {"sub": "anna", "email": "anna@example.org", "email_verified": True}
    )
    lie: Lie | None = None
    # Some providers keep address and groups out of the token and tell them only when asked.
    only_userinfo: bool = False
    clock_offset: float = 0.0
    signed_in_at: float | None = None
    grants: dict[str, _Grant] = field(default_factory=dict)
    access: dict[str, dict[str, Any]] = field(default_factory=dict)
    key: ECKey = field(default_factory=lambda: _new_key())
    key_requests: int = 0
    authorizations: list[dict[str, str]] = field(default_factory=list)


class OidcProvider(HttpService):
    """The code flow with PKCE, a client secret, codes that work once, keys that rotate."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.state = _State()

    @property
    def issuer(self) -> str:
        return self.url

    def forget(self) -> None:
        self.state, self.behaviours = _State(), Behaviours()

    def rotate_key(self) -> None:
        self.state.key = _new_key()

    async def answer(self, request: Request) -> Answer:
        match request.path:
            case "/.well-known/openid-configuration":
                return Answer.of(self._describe())
            case "/keys":
                self.state.key_requests += 1
                return Answer.of(KeySet([self.state.key]).as_dict(private=False))
            case "/authorize":
                return self._authorize(request)
            case "/token" if request.method == "POST":
                return self._exchange(request)
            case "/userinfo":
                return self._tell(request)
        return Answer(HTTPStatus.NOT_FOUND)

    def _describe(self) -> dict[str, Any]:
        return {
            "issuer": "https://elsewhere.example" if self.state.lie is Lie.OWN_NAME else self.issuer,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "end_session_endpoint": f"{self.url}/leave",
            "authorization_response_iss_parameter_supported": True,
        }

    def _authorize(self, request: Request) -> Answer:
        asked = {name: values[0] for name, values in request.query.items()}
        self.state.authorizations.append(asked)
        if asked.get("client_id") != CLIENT_ID or asked.get("code_challenge_method") != "S256":
            return Answer(HTTPStatus.BAD_REQUEST)
        now = self._now()
        code = secrets.token_urlsafe(16)
        asks_again = asked.get("max_age") == "0"
        since = now if self.state.signed_in_at is None or asks_again else self.state.signed_in_at
        self.state.grants[code] = _Grant(
            asked["code_challenge"], asked["redirect_uri"], asked["nonce"], dict(self.state.person), since
        )
        named = "https://elsewhere.example" if self.state.lie is Lie.RESPONSE_ISSUER else self.issuer
        given = {"error": "access_denied"} if self.state.lie is Lie.DENIED else {"code": code}
        query = urlencode({**given, "state": asked["state"], "iss": named})
        return Answer(HTTPStatus.FOUND, headers={"Location": f"{asked['redirect_uri']}?{query}"})

    def _exchange(self, request: Request) -> Answer:
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        grant = self.state.grants.pop(form.get("code", ""), None)
        if not _knows_secret(request):
            return Answer.of({"error": "invalid_client"}, HTTPStatus.UNAUTHORIZED)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        good = grant is not None and challenge.rstrip(b"=").decode() == grant.challenge
        if grant is None or not good or form.get("redirect_uri") != grant.redirect_uri:
            return Answer.of({"error": "invalid_grant"}, HTTPStatus.BAD_REQUEST)
        access = secrets.token_urlsafe(16)
        self.state.access[access] = grant.claims
        answer = {"access_token": access, "token_type": "Bearer"}
        if self.state.lie is not Lie.NO_TOKEN:
            answer["id_token"] = self._sign(self._claims(grant))
        return Answer.of(answer)

    def _tell(self, request: Request) -> Answer:
        known = self.state.access.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if known is None:
            return Answer(HTTPStatus.UNAUTHORIZED)
        return Answer.of({**known, "sub": "somebody else"} if self.state.lie is Lie.OTHER_PERSON else known)

    def _claims(self, grant: _Grant) -> dict[str, Any]:
        now = int(self._now())
        told = {"sub": grant.claims["sub"]} if self.state.only_userinfo else grant.claims
        claims = {
            **told,
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "nonce": grant.nonce,
            "iat": now,
            "exp": now + LIFE_SECONDS,
            "auth_time": int(grant.signed_in_at),
        }
        wrong: dict[Lie, dict[str, Any]] = {
            Lie.NONCE: {"nonce": "another trip"},
            Lie.AUDIENCE: {"aud": "another client"},
            Lie.SEVERAL_AUDIENCES: {"aud": [CLIENT_ID, "another client"], "azp": "another client"},
            Lie.ISSUER: {"iss": "https://elsewhere.example"},
            Lie.EXPIRED: {"iat": now - 7200, "exp": now - 3600},
            Lie.FUTURE: {"iat": now + 3600, "exp": now + 7200},
            Lie.NO_SUBJECT: {"sub": ""},
        }
        return claims | (wrong.get(self.state.lie, {}) if self.state.lie else {})

    def _sign(self, claims: dict[str, Any]) -> str:
        key = self.state.key
        match self.state.lie:
            case Lie.UNSIGNED:
                return ".".join((_encode({"alg": "none", "kid": key.kid}), _encode(claims), ""))
            case Lie.SHARED_SECRET:
                shared = OctKey.import_key(CLIENT_SECRET)
                return jwt.encode({"alg": "HS256", "kid": key.kid}, claims, shared, algorithms=["HS256"])
            case Lie.FOREIGN_KEY:
                key = _new_key()
            case Lie.FOREIGN_KEY_SAME_ID:
                return jwt.encode({"alg": "ES256", "kid": key.kid}, claims, _new_key())
        return jwt.encode({"alg": "ES256", "kid": key.kid}, claims, key)

    def _now(self) -> float:
        return time.time() + self.state.clock_offset


def _knows_secret(request: Request) -> bool:
    given = request.headers.get("authorization", "").removeprefix("Basic ")
    expected = "pressbox:kept%20between%20%26%20both%20of%20us"
    return secrets.compare_digest(given, base64.b64encode(expected.encode()).decode())


def _encode(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def _new_key() -> ECKey:
    return ECKey.generate_key("P-256", {"use": "sig", "alg": "ES256"}, auto_kid=True)
