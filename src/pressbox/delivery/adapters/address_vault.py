"""Encrypts addresses with keys that are derived from the instance key; each key has an id."""

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
from pressbox.delivery.ports import SealedAddress

_NONCE_BYTES = 12
_ASSOCIATED_DATA = b"pressbox soonish address"


@dataclass(frozen=True, repr=False)
class _DerivedKeys:
    """What is derived from one instance key."""

    id: str
    cipher: AESGCM
    targets: bytes


class AddressVault:
    """Seals with the first key and opens with any of them, so that the key can be changed while everything runs."""

    def __init__(self, secret_keys: Sequence[str]) -> None:
        if not secret_keys:
            raise ConfigurationError("There is no instance key. Set PRESSBOX_SECRET_KEY, or start with `pressbox up`.")
        self._keys = {keys.id: keys for keys in reversed([_derive_keys(key) for key in secret_keys])}
        self._current = _derive_keys(secret_keys[0])

    @property
    def key_id(self) -> str:
        """The id of the key that seals."""
        return self._current.id

    def seal(self, address: str, kind: str, shown: str) -> SealedAddress:
        nonce = os.urandom(_NONCE_BYTES)
        encrypted = nonce + self._current.cipher.encrypt(nonce, address.encode(), _ASSOCIATED_DATA)
        older = tuple(_hash(keys, address) for keys in self._keys.values() if keys.id != self._current.id)
        return SealedAddress(self._current.id, encrypted, self.target(address), kind, shown, older)

    def target(self, address: str) -> bytes:
        """A keyed hash, of no use to anybody who only has the database."""
        return _hash(self._current, address)

    def reveal(self, encrypted: bytes, key_id: str) -> str:
        keys = self._keys.get(key_id)
        if keys is None:
            raise ConfigurationError(
                "An address was encrypted with an instance key that is not known here. Add the old key to"
                " PRESSBOX_SOONISH_OLD_SECRET_KEYS.",
                key_id=key_id,
            )
        try:
            return keys.cipher.decrypt(encrypted[:_NONCE_BYTES], encrypted[_NONCE_BYTES:], _ASSOCIATED_DATA).decode()
        except (InvalidTag, ValueError) as error:
            raise ConfigurationError("An encrypted address was changed outside of Pressbox.", key_id=key_id) from error


def _hash(keys: _DerivedKeys, address: str) -> bytes:
    return hmac.digest(keys.targets, _normalise(address).encode(), "sha256")


def _normalise(address: str) -> str:
    """One spelling for addresses that certainly lead to the same place. The rest may be a token, where case matters."""
    scheme, separator, rest = address.partition("://")
    return f"{scheme.lower()}{separator}{rest.rstrip('/')}"


def _derive_keys(secret_key: str) -> _DerivedKeys:
    def derive(purpose: str) -> bytes:
        expand = HKDF(algorithm=SHA256(), length=32, salt=None, info=f"pressbox soonish {purpose}".encode())
        return expand.derive(secret_key.encode())

    return _DerivedKeys(
        id=hashlib.sha256(derive("key id")).hexdigest()[:16],
        cipher=AESGCM(derive("addresses")),
        targets=derive("targets"),
    )
