"""Codes of an authenticator app (TOTP, RFC 6238): pure, with the time as an argument."""

import hmac
from datetime import datetime

import pyotp

ISSUER = "Pressbox"
DIGITS = 6
STEP_SECONDS = 30
# A telephone's clock may be that many steps wrong in either direction.
DRIFT_STEPS = 1
_GROUP = 4


def new_secret() -> str:
    """160 random bits in base32, as authenticator apps take them."""
    return pyotp.random_base32(32)


def grouped(secret: str) -> str:
    """The secret for people who type it."""
    return " ".join(secret[start : start + _GROUP] for start in range(0, len(secret), _GROUP))


def provisioning_uri(secret: str, email: str) -> str:
    return pyotp.TOTP(secret, digits=DIGITS, interval=STEP_SECONDS).provisioning_uri(email, issuer_name=ISSUER)


def step_at(moment: datetime) -> int:
    return int(moment.timestamp()) // STEP_SECONDS


def code_at(secret: str, step: int) -> str:
    return pyotp.TOTP(secret, digits=DIGITS, interval=STEP_SECONDS).generate_otp(step)


def is_code(text: str) -> bool:
    return len(text) == DIGITS and text.isascii() and text.isdigit()


def matching_step(secret: str, code: str, moment: datetime, *, last_step: int) -> int | None:
    """The step whose code this is, within the drift and later than the last one used; None when it is none."""
    if not is_code(code):
        return None
    now = step_at(moment)
    found = None
    for step in range(now - DRIFT_STEPS, now + DRIFT_STEPS + 1):
        # All are compared, at the same cost whichever it is.
        if hmac.compare_digest(code_at(secret, step), code) and step > last_step:
            found = step
    return found
