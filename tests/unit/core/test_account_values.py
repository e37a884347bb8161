import pytest

from pressbox.core.accounts.limits import address_subject
from pressbox.core.accounts.models import Role, Scope, effective_scopes, scopes_of
from pressbox.core.accounts.opaque import fingerprint, new_secret, well_formed
from pressbox.core.accounts.people import clean_name, normalise_email
from pressbox.core.accounts.tokens import PREFIX
from pressbox.core.errors import InvalidInputError


def test_secrets_are_long_different_and_recognisable() -> None:
    secrets = {new_secret(PREFIX) for _ in range(100)}
    assert len(secrets) == 100
    assert all(well_formed(secret, PREFIX) and secret.startswith("pbx_") for secret in secrets)


@pytest.mark.parametrize(
    "text", ["", "pbx_", "pbx_short", "a" * 43, "pbx_" + "a" * 44, "pbx_" + "ä" * 43, "pbx_" + "a" * 42 + "\n", "\0"]
)
def test_what_cannot_be_a_token_is_not_looked_up(text: str) -> None:
    assert not well_formed(text, PREFIX)


def test_a_fingerprint_does_not_contain_the_secret() -> None:
    secret = new_secret()
    assert secret.encode() not in fingerprint(secret)
    assert len(fingerprint(secret)) == 32


def test_scopes_imply_the_smaller_ones_but_reader_stands_alone() -> None:
    assert effective_scopes(Role.ADMIN, frozenset({Scope.WRITE})) == {Scope.READ, Scope.WRITE}
    assert effective_scopes(Role.ADMIN, frozenset({Scope.READER})) == {Scope.READER}
    assert effective_scopes(Role.ADMIN, frozenset()) == set()


def test_a_token_never_has_more_than_its_owner() -> None:
    assert Scope.ADMIN not in effective_scopes(Role.MEMBER, frozenset({Scope.ADMIN}))
    assert Scope.ADMIN not in scopes_of(Role.MEMBER)
    assert scopes_of(Role.ADMIN) == set(Scope)


def test_an_address_has_one_spelling() -> None:
    assert normalise_email("  Anna.Example@EXAMPLE.org ") == "anna.example@example.org"
    assert normalise_email("anna@intranet") == "anna@intranet"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "anna",
        "anna@",
        "@example.org",
        "a b@example.org",
        "a\0@example.org",
        "\ud800@x.org",
        "a@example.org\nBcc: b@example.org",
        "a" * 1_000_000 + "@example.org",
    ],
)
def test_what_is_not_an_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        normalise_email(text)
    assert refused.value.field == "email"


def test_names_are_trimmed_and_without_control_characters() -> None:
    assert clean_name("  Anna \t  Example ") == "Anna Example"
    for bad in ("a\0b", "\u202e evil", "x" * 101):
        with pytest.raises(InvalidInputError):
            clean_name(bad)
    with pytest.raises(InvalidInputError):
        clean_name("  ", required=True)


def test_an_ipv6_user_is_counted_by_network_and_a_mapped_address_as_ipv4() -> None:
    assert address_subject("2001:db8:1:2:3::4") == address_subject("2001:db8:1:2:ffff::1")
    assert address_subject("2001:db8:1:2::1") != address_subject("2001:db8:1:3::1")
    assert address_subject("::ffff:192.0.2.7") == "192.0.2.7"
    assert address_subject("192.0.2.7") != address_subject("192.0.2.8")
    assert address_subject("fe80::1%eth0") == "fe80::/64"
    assert address_subject("unix socket") == "unix socket"
