"""Sends a push message to one browser: encrypted for it alone, signed by this instance, through the guarded client."""

import hashlib
import time
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.errors import GoneError, PermanentError, RateLimitedError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.http.url import DEFAULT_PORTS, check_url, host_of, port_of
from pressbox.core.web.languages import translations
from pressbox.delivery.push.keys import KeyPair, PushKeys
from pressbox.delivery.push.message import PushMessage, encode_message
from pressbox.delivery.push.subscription import PushSubscription, PushTarget

PACKAGE = "pressbox.delivery"
# How long a push service keeps a message for a phone that is off: yesterday's goal is in the inbox.
KEPT = timedelta(hours=12)
TIMEOUT = timedelta(seconds=20)
SIGNED_FOR = timedelta(hours=12)
# One signature serves all messages to a push service for this long: signing costs as much as sending.
SIGNED_AGAIN_AFTER = timedelta(hours=1)
MOST_SIGNATURES = 1_000
MOST_ANSWER_BYTES = 20_000
LONGEST_WAIT = timedelta(days=1)


class PushGoneError(GoneError):
    """The browser no longer takes messages. Its subscription has to be removed."""

    code = "push_gone"


class PushRefusedError(PermanentError):
    """The push service will not take this message, however often it is sent."""

    code = "push_refused"
    status = 502


class PushSender:
    """`send` returns once the push service has taken the message; whether the phone is on is not known.

    It raises PushGoneError when the subscription is no more, RateLimitedError or another TransientError when a later
    try may succeed, and a PermanentError otherwise.
    """

    def __init__(self, http: GuardedClient, keys: PushKeys, settings: Settings) -> None:
        self._http = http
        self._keys = keys
        self._contact = contact_of(settings)
        self._signatures: dict[tuple[str, str], tuple[str, int]] = {}

    async def send(self, subscription: PushSubscription, message: PushMessage) -> None:
        keys = await self._keys.load()
        language = translations(subscription.language, (PACKAGE,))
        content = encode_message(message, language.gettext)
        body = encrypt(content, subscription.target, keys)
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Encoding": "aes128gcm",
            "TTL": str(int(KEPT.total_seconds())),
            "Urgency": "high",
            "Authorization": self._sign(subscription.target.endpoint, keys, int(time.time())),
        }
        if message.tag:
            headers["Topic"] = topic_of(message.tag)
        answer = await self._http.post(
            subscription.target.endpoint, body, headers=headers, max_bytes=MOST_ANSWER_BYTES, timeout=TIMEOUT
        )
        check_answer(answer, subscription)

    def _sign(self, endpoint: str, keys: KeyPair, now: int) -> str:
        place = (_origin(endpoint), keys.public_key)
        signature, made = self._signatures.get(place, ("", 0))
        if not 0 <= now - made < SIGNED_AGAIN_AFTER.total_seconds():
            if len(self._signatures) >= MOST_SIGNATURES:
                self._signatures.clear()
            signature = sign(endpoint, keys, self._contact, now)
            self._signatures[place] = (signature, now)
        return signature


def encrypt(content: bytes, target: PushTarget, keys: KeyPair) -> bytes:
    """Encrypted so that only this browser can read it (RFC 8291)."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
    from webpush import WebPush, WebPushSubscription

    public = load_pem_private_key(keys.private_pem, None).public_key()
    library = WebPush(keys.private_pem, public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    given = {"endpoint": target.endpoint, "keys": {"p256dh": target.p256dh, "auth": target.auth}}
    # Its own signature leaves the port out of the audience, and wants a mail address; ours is below.
    made = library.get(content, WebPushSubscription.model_validate(given), subscriber="unused@example.org")
    encrypted: bytes = made.encrypted
    return encrypted


def sign(endpoint: str, keys: KeyPair, contact: str, now: int) -> str:
    """Who sends (RFC 8292): a token for this push service and half a day."""
    from joserfc import jwt
    from joserfc.jwk import ECKey

    claims = {"aud": _origin(endpoint), "exp": now + int(SIGNED_FOR.total_seconds()), "sub": contact}
    token = jwt.encode({"alg": "ES256", "typ": "JWT"}, claims, ECKey.import_key(keys.private_pem))
    return f"vapid t={token}, k={keys.public_key}"


def contact_of(settings: Settings) -> str:
    """By which operators of push services reach the administrator; some of them insist on one."""
    contact, public_url = settings.http.contact or "", settings.web.public_url or ""
    if contact.startswith(("https://", "mailto:")):
        return contact
    if "@" in contact and " " not in contact:
        return f"mailto:{contact}"
    return public_url if public_url.startswith("https://") else "mailto:postmaster@localhost"


def topic_of(tag: str) -> str:
    """Push services keep one message of a topic for a phone that is off. They take 32 letters and learn nothing."""
    return urlsafe_b64encode(hashlib.sha256(tag.encode()).digest()[:24]).decode()


def check_answer(answer: Response, subscription: PushSubscription) -> None:
    """Turn what the push service says into our errors. Its words are not kept: it may quote what we sent."""
    host, number = subscription.target.host, subscription.id
    status = answer.status
    if 200 <= status < 300:
        return
    if status in (404, 410):
        raise PushGoneError(f"This browser no longer takes messages ({host}).", subscription=number)
    if status == 429:
        wait = wait_of(answer.headers.get("retry-after", ""), utc_now())
        raise RateLimitedError(f"{host} asks to wait before the next message.", retry_after=wait, host=host)
    if status >= 500 or status == 408:
        raise TransientError(f"{host} is in trouble and answered {status}.", host=host, http_status=status)
    raise PushRefusedError(f"{host} refused a message and answered {status}.", host=host, http_status=status)


def wait_of(retry_after: str, now: datetime) -> timedelta | None:
    """What Retry-After says, in seconds or as a date; None when it says nothing usable."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:9])), LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(moment - now, timedelta()), LONGEST_WAIT)


def _origin(endpoint: str) -> str:
    url = check_url(endpoint)
    host, port = host_of(url), port_of(url)
    host = f"[{host}]" if ":" in host else host
    return f"{url.scheme}://{host}" if port == DEFAULT_PORTS[url.scheme] else f"{url.scheme}://{host}:{port}"
