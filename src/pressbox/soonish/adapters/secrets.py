"""Addresses at rest: encrypted with keys that are derived from the instance key, each known by an id."""

import hashlib
import hmac
import os
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pressbox.core.errors import ConfigurationError
from pressbox.soonish.ports import Sealed

_NONCE_BYTES = 12
_BOUND_TO = b"pressbox soonish address"


@dataclass(frozen=True, repr=False)
class _Keys:
    """What is derived from one instance key."""

    id: str
    cipher: AESGCM
    targets: bytes


class AddressVault:
    """Seals with the first key; opens with any of them, so that a key can be changed while everything runs."""

    def __init__(self, secret_keys: Sequence[str]) -> None:
        if not secret_keys:
            raise ConfigurationError("There is no instance key. Set PRESSBOX_SECRET_KEY, or start with `pressbox up`.")
        self._keys = {keys.id: keys for keys in reversed([_derived(key) for key in secret_keys])}
        self._present = _derived(secret_keys[0])

    @property
    def key_id(self) -> str:
        """The id of the key that seals."""
        return self._present.id

    def seal(self, address: str, kind: str, shown: str) -> Sealed:
        nonce = os.urandom(_NONCE_BYTES)
        encrypted = nonce + self._present.cipher.encrypt(nonce, address.encode(), _BOUND_TO)
        return Sealed(self._present.id, encrypted, self.target(address), kind, shown)

    def target(self, address: str) -> bytes:
        """A keyed hash: of no use to anybody who only has the database."""
        return hmac.digest(self._present.targets, _same_place(address).encode(), "sha256")

    def reveal(self, encrypted: bytes, key_id: str) -> str:
        keys = self._keys.get(key_id)
        if keys is None:
            raise ConfigurationError(
                "An address was sealed with an instance key that is not known here. Put the old key into"
                " PRESSBOX_SOONISH_OLD_SECRET_KEYS.",
                key_id=key_id,
            )
        try:
            return keys.cipher.decrypt(encrypted[:_NONCE_BYTES], encrypted[_NONCE_BYTES:], _BOUND_TO).decode()
        except (InvalidTag, ValueError) as error:
            raise ConfigurationError("A sealed address was changed outside of Pressbox.", key_id=key_id) from error


def _same_place(address: str) -> str:
    """One spelling of what certainly leads to the same place. The rest may be a token, where case matters."""
    scheme, separator, rest = address.partition("://")
    return f"{scheme.lower()}{separator}{rest.rstrip('/')}"


def _derived(secret_key: str) -> _Keys:
    def derive(purpose: str) -> bytes:
        expand = HKDF(algorithm=SHA256(), length=32, salt=None, info=f"pressbox soonish {purpose}".encode())
        return expand.derive(secret_key.encode())

    return _Keys(
        id=hashlib.sha256(derive("key id")).hexdigest()[:16],
        cipher=AESGCM(derive("addresses")),
        targets=derive("targets"),
    )
