"""Addresses at rest."""

import pytest

from pressbox.core.errors import ConfigurationError
from pressbox.delivery.adapters.address_vault import AddressVault
from pressbox.soonish.service.guests import mask_email

URL = "ntfy://example.org/k3y"


def test_what_is_sealed_is_opened_again_and_shows_nothing() -> None:
    vault = AddressVault(["a key"])
    sealed, again = vault.seal(URL, "ntfy", "ntfy"), vault.seal(URL, "ntfy", "ntfy")
    assert vault.reveal(sealed.encrypted, sealed.key_id) == URL
    assert b"k3y" not in sealed.encrypted + sealed.target
    assert sealed.encrypted != again.encrypted, "nobody sees that two are the same"
    assert sealed.target == again.target, "but we do"


def test_another_key_neither_opens_nor_recognises_it() -> None:
    sealed, other = AddressVault(["a key"]).seal(URL, "", ""), AddressVault(["another key"])
    assert other.target(URL) != sealed.target
    with pytest.raises(ConfigurationError, match="OLD_SECRET_KEYS"):
        other.reveal(sealed.encrypted, sealed.key_id)


def test_an_older_key_still_opens() -> None:
    sealed = AddressVault(["a key"]).seal(URL, "", "")
    both = AddressVault(["another key", "a key"])
    assert both.reveal(sealed.encrypted, sealed.key_id) == URL
    assert both.seal(URL, "", "").key_id == both.key_id != sealed.key_id


def test_what_was_changed_outside_is_not_believed() -> None:
    vault = AddressVault(["a key"])
    sealed = vault.seal(URL, "", "")
    for wrong in (sealed.encrypted[:-1] + bytes([sealed.encrypted[-1] ^ 1]), b"", b"short"):
        with pytest.raises(ConfigurationError) as caught:
            vault.reveal(wrong, sealed.key_id)
        assert "k3y" not in str(caught.value)


def test_without_a_key_nothing_is_sealed() -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_SECRET_KEY"):
        AddressVault([])


@pytest.mark.parametrize(
    ("other", "same"),
    [("NTFY://example.org/k3y/", True), ("ntfy://example.org/K3Y", False), ("ntfys://example.org/k3y", False)],
)
def test_two_spellings_of_one_place_are_one_target(other: str, same: bool) -> None:
    vault = AddressVault(["a key"])
    assert (vault.target(other) == vault.target(URL)) is same


def test_an_address_is_shown_by_its_first_letter() -> None:
    assert mask_email("guest.person@example.org") == "g***@example.org"
