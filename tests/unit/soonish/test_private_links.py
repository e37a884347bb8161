"""Private links carry an id that nobody else can write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.soonish.domain.links import Purpose, SignedLinks

LINKS = SignedLinks("https://events.example.org/", ["first key"])


@given(st.integers(min_value=0, max_value=2**63 - 1), st.sampled_from(Purpose))
def test_what_was_signed_is_read_back_for_that_purpose_alone(number: int, purpose: Purpose) -> None:
    token = LINKS.token(purpose, number)
    assert {other: LINKS.read(other, token) for other in Purpose} == {
        other: number if other is purpose else None for other in Purpose
    }


@given(st.text(max_size=60))
def test_no_other_text_is_a_token(text: str) -> None:
    assert LINKS.read(Purpose.MANAGE, text) is None


def test_another_number_or_another_spelling_of_it_is_refused() -> None:
    _, _, mac = LINKS.token(Purpose.WHY, 10).partition(".")
    for forged in ("b", "0a", "A", ""):
        assert LINKS.read(Purpose.WHY, f"{forged}.{mac}") is None
    assert LINKS.read(Purpose.WHY, f"a.{mac}") == 10


def test_links_of_an_older_key_are_believed_until_it_is_forgotten() -> None:
    token = LINKS.token(Purpose.MANAGE, 7)
    assert SignedLinks("", ["second key", "first key"]).read(Purpose.MANAGE, token) == 7
    assert SignedLinks("", ["second key"]).read(Purpose.MANAGE, token) is None


@pytest.mark.parametrize("name", ["confirm", "manage", "unsubscribe", "why", "calendar"])
def test_each_link_leads_to_the_page_of_its_name(name: str) -> None:
    link: str = getattr(LINKS, name)(5)
    assert link.startswith(f"https://events.example.org/events/{name}/5.")
    assert LINKS.read(Purpose(name), link.rpartition("/")[2].removesuffix(".ics")) == 5
