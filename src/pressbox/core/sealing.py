"""Seals what lies on disk with a key that is derived from the instance key, one for each purpose."""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pressbox.core.errors import ConfigurationError

_NONCE_BYTES = 12


class Seal:
    """What was sealed for one purpose, or with another instance key, does not open."""

    def __init__(self, secret_key: str, purpose: str) -> None:
        if not secret_key:
            raise ConfigurationError("There is no instance key. Set PRESSBOX_SECRET_KEY, or start with `pressbox up`.")
        self._purpose = purpose.encode()
        expand = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"pressbox " + self._purpose)
        self._cipher = AESGCM(expand.derive(secret_key.encode()))

    def seal(self, content: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, self._purpose)

    def reveal(self, sealed: bytes) -> bytes:
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], self._purpose)
        except (InvalidTag, ValueError) as error:
            raise ConfigurationError(
                f"The sealed {self._purpose.decode()} cannot be read: it was changed, or sealed with another key."
            ) from error
