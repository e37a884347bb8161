"""Seals what lies on disk with a key that is derived from the instance key, one for each purpose."""

import os
from collections.abc import Sequence
from contextlib import suppress

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pressbox.core.errors import ConfigurationError

_NONCE_BYTES = 12


class Seal:
    """The first key seals, all of them open. What was sealed for another purpose or with another key stays shut.

    Without a key it can be made, and neither seals nor opens: a process that has nothing sealed needs none.
    """

    def __init__(self, secret_keys: Sequence[str], purpose: str) -> None:
        self._purpose = purpose.encode()
        self._known = [self._derive_cipher(key) for key in secret_keys]

    @property
    def _ciphers(self) -> Sequence[AESGCM]:
        if not self._known:
            raise ConfigurationError("There is no instance key. Set PRESSBOX_SECRET_KEY, or start with `pressbox up`.")
        return self._known

    def seal(self, content: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._ciphers[0].encrypt(nonce, content, self._purpose)

    def reveal(self, sealed: bytes) -> bytes:
        for cipher in self._ciphers:
            with suppress(InvalidTag, ValueError):
                return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], self._purpose)
        raise ConfigurationError(
            f"The sealed {self._purpose.decode()} cannot be read: it was changed, or sealed with another key."
        )

    def _derive_cipher(self, secret_key: str) -> AESGCM:
        expand = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"pressbox " + self._purpose)
        return AESGCM(expand.derive(secret_key.encode()))
