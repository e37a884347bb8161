import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.accounts.passkeys import (
    StoredPasskey,
    check_registration,
    check_sign_in,
    new_challenge,
    parse_sign_in,
    registration_options,
    require_relying_party,
    sign_in_options,
)
from pressbox.core.accounts.sign_in_ways import RelyingParty, relying_party
from pressbox.core.errors import ConflictError, InvalidInputError

PARTY = RelyingParty("press.example.org", "https://press.example.org")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://press.example.org", "https://press.example.org"),
        ("https://press.example.org:443/", "https://press.example.org"),
        ("https://Press.Example.org:8443/x", "https://press.example.org:8443"),
        ("http://localhost:8030", "http://localhost:8030"),
    ],
)
def test_passkeys_belong_to_the_public_address(url: str, origin: str) -> None:
    found = relying_party(url)
    assert found is not None
    assert found.origin == origin


@pytest.mark.parametrize(
    "url", [None, "", "http://press.example.org", "http://127.0.0.1:8030", "https://192.0.2.1", "ftp://localhost", "x"]
)
def test_without_a_usable_address_the_reason_is_named(url: str | None) -> None:
    assert relying_party(url) is None
    with pytest.raises(ConflictError, match="the settings must name it"):
        require_relying_party(url)


@pytest.mark.parametrize("opening", ["[", '{"id":', '{"response":{"a":'])
def test_an_answer_that_is_nested_without_end_is_refused(opening: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_sign_in((opening * 20_000)[:20_000])
    with pytest.raises(InvalidInputError):
        check_registration(PARTY, new_challenge(), (opening * 20_000)[:20_000])


def test_a_key_must_find_its_person_and_ask_for_finger_or_pin() -> None:
    made = json.loads(
        registration_options(PARTY, new_challenge(), user_handle=b"h" * 32, email="a@b.c", name="", known=[b"one"])
    )
    assert made["rp"]["id"] == "press.example.org"
    assert made["authenticatorSelection"]["residentKey"] == "required"
    assert made["authenticatorSelection"]["userVerification"] == "required"
    assert len(made["excludeCredentials"]) == 1
    asked = json.loads(sign_in_options(PARTY, new_challenge()))
    assert asked["userVerification"] == "required"
    assert asked["allowCredentials"] == []


_ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
_PARTS = st.sampled_from(["", "AAAA", "!!", "e30", "oWNmbXQ", "x" * 50])


@given(
    st.one_of(
        st.text(),
        _ANSWERS.map(json.dumps),
        st.builds(
            lambda a, b, c, d: json.dumps(
                {
                    "id": a,
                    "rawId": a,
                    "type": "public-key",
                    "response": {
                        "clientDataJSON": b,
                        "attestationObject": c,
                        "authenticatorData": c,
                        "signature": d,
                    },
                }
            ),
            _PARTS,
            _PARTS,
            _PARTS,
            _PARTS,
        ),
    )
)
def test_an_answer_that_is_none_is_refused_and_breaks_nothing(answer: str) -> None:
    stored = StoredPasskey(1, 1, b"h", b"c", b"k", 0)
    with pytest.raises(InvalidInputError):
        check_registration(PARTY, b"c" * 32, answer)
    with pytest.raises(InvalidInputError):
        check_sign_in(PARTY, b"c" * 32, parse_sign_in(answer), stored)


def test_an_endless_answer_is_not_read() -> None:
    with pytest.raises(InvalidInputError):
        parse_sign_in("x" * 10_000_000)
