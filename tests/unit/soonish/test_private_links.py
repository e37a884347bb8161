"""Private links carry an id that nobody else can write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import NotFoundError
from pressbox.soonish.domain.links import Purpose, SignedLinks

LINKS = SignedLinks("https://events.example.org/", ["first key"])


@given(st.integers(min_value=0, max_value=2**63 - 1), st.sampled_from(Purpose))
def test_what_was_signed_is_read_back_for_that_purpose_alone(number: int, purpose: Purpose) -> None:
    token = LINKS.make_token(purpose, number)
    assert LINKS.read_token(purpose, token) == number
    for other in set(Purpose) - {purpose}:
        with pytest.raises(NotFoundError):
            LINKS.read_token(other, token)


@given(st.text(max_size=60))
def test_no_other_text_is_a_token(text: str) -> None:
    with pytest.raises(NotFoundError):
        LINKS.read_token(Purpose.MANAGE, text)


def test_another_number_or_another_spelling_of_it_is_refused() -> None:
    _, _, mac = LINKS.make_token(Purpose.WHY, 10).partition(".")
    for forged in ("b", "0a", "A", ""):
        with pytest.raises(NotFoundError):
            LINKS.read_token(Purpose.WHY, f"{forged}.{mac}")
    assert LINKS.read_token(Purpose.WHY, f"a.{mac}") == 10


def test_links_of_an_older_key_work_until_that_key_is_removed() -> None:
    token = LINKS.make_token(Purpose.MANAGE, 7)
    assert SignedLinks("", ["second key", "first key"]).read_token(Purpose.MANAGE, token) == 7
    with pytest.raises(NotFoundError):
        SignedLinks("", ["second key"]).read_token(Purpose.MANAGE, token)


@pytest.mark.parametrize("name", ["confirm", "manage", "unsubscribe", "why", "calendar"])
def test_each_link_leads_to_the_page_of_its_name(name: str) -> None:
    link: str = getattr(LINKS, f"{name}_url")(5)
    assert link.startswith(f"https://events.example.org/events/{name}/5.")
    assert LINKS.read_token(Purpose(name), link.rpartition("/")[2].removesuffix(".ics")) == 5
