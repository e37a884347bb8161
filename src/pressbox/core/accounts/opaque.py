"""Opaque secrets: random, handed out once, kept only as a hash."""

import hashlib
import re
import secrets

# 32 random bytes in URL-safe base64.
_BODY = re.compile(r"[A-Za-z0-9_-]{43}")
_BYTES = 32


def new_secret(prefix: str = "") -> str:
    return prefix + secrets.token_urlsafe(_BYTES)


def well_formed(secret: str, prefix: str = "") -> bool:
    """Whether it could be one of ours at all; anything else is not worth a question to the database."""
    return secret.startswith(prefix) and _BODY.fullmatch(secret, len(prefix)) is not None


def fingerprint(secret: str) -> bytes:
    """What is stored. The secret has 256 random bits, so a plain hash cannot be searched backwards."""
    return hashlib.sha256(secret.encode()).digest()
