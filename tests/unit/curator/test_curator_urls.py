"""One spelling for every address."""

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.library.urls import (
    MAX_LENGTH,
    absolute_url,
    canonical_url,
    host_of,
    is_plain_address,
    is_web_url,
)

ARTICLE = "https://example.org/news/42"


@pytest.mark.parametrize(
    "spelling",
    [
        "https://example.org/news/42",
        "https://EXAMPLE.org/news/42",
        "HTTPS://example.org:443/news/42",
        "http://example.org/news/42",
        "http://example.org:80/news/42",
        "https://example.org./news/42",
        "  https://example.org/news/42\n",
        "https://example.org/news/42#comments",
        "https://example.org/news/42?utm_source=rss&utm_medium=feed",
        "https://example.org/news/42?fbclid=abc",
        "https://example.org/news/42?UTM_Source=rss",
        "https://example.org/news/42?source=rss",
        "https://example.org/news/42?at_medium=RSS&at_campaign=KARANGA",
        "https://example.org/news/42?",
        "https://example.org/news/42?&",
        "https://example.org/news/./42",
        "https://example.org/old/../news/42",
        "https://example.org/%6eews/42",
    ],
)
def test_every_spelling_of_an_article_is_one(spelling: str) -> None:
    assert canonical_url(spelling) == ARTICLE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/News/42", ARTICLE),
        ("https://example.org/news/42/", ARTICLE),
        ("https://example.org/news/42?page=2", ARTICLE),
        ("https://example.org/news/42?source=reuters", ARTICLE),
        ("https://example.org:8443/news/42", ARTICLE),
        ("https://www.example.org/news/42", ARTICLE),
        ("https://example.org/app#/news/42", "https://example.org/app#/news/43"),
        ("https://example.org/app#!news/42", "https://example.org/app#!news/43"),
        ("https://example.org/?p=1&p=2", "https://example.org/?p=2&p=1"),
        ("https://example.org/a%2Fb", "https://example.org/a/b"),
        ("https://example.org/?q=a%26b", "https://example.org/?q=a&b"),
    ],
)
def test_addresses_of_different_pages_stay_different(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


def test_names_and_paths_of_any_script_have_one_spelling() -> None:
    assert canonical_url("https://BÜCHER.example/straße") == canonical_url("https://xn--bcher-kva.example/stra%c3%9fe")
    assert canonical_url("https://example.org/ニュース") == "https://example.org/%E3%83%8B%E3%83%A5%E3%83%BC%E3%82%B9"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "news/42",
        "mailto:desk@example.org",
        "javascript:alert(1)",
        "https://",
        "https://example.org:99999/",
        "https://[::1/",
        "https://" + "a" * 70 + ".example/",
        "https://example.org/" + "a" * 9000,
    ],
)
def test_what_is_no_web_address_has_no_canonical_one(text: str) -> None:
    assert canonical_url(text) == ""
    assert not is_web_url(text)
    assert host_of(text) == ""


def test_relative_addresses_are_seen_from_their_base() -> None:
    assert absolute_url("../img/a.png", "https://example.org/news/42") == "https://example.org/img/a.png"
    assert absolute_url("//cdn.example.org/a.png", "https://example.org/") == "https://cdn.example.org/a.png"
    assert absolute_url("/a\n b", "https://example.org/x") == "https://example.org/a b"
    assert absolute_url("javascript:alert(1)", "https://example.org/") == ""
    assert absolute_url(" ", "https://example.org/") == ""


def test_a_host_has_its_port_only_when_it_is_unusual() -> None:
    assert host_of("https://Example.org:443/a") == "example.org"
    assert host_of("http://127.0.0.1:8080/a") == "127.0.0.1:8080"
    assert host_of("http://[::1]:8080/a") == "[::1]:8080"


printable = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)


@given(path=printable, query=printable, fragment=printable)
def test_a_canonical_address_is_its_own_canonical_address(path: str, query: str, fragment: str) -> None:
    once = canonical_url(f"https://example.org/{path}?{query}#{fragment}")
    assert canonical_url(once) == once


@given(st.text(max_size=60))
def test_no_text_is_too_odd(text: str) -> None:
    once = canonical_url(text)
    assert canonical_url(once) == once
    absolute_url(text, "https://example.org/feed")


parameters = st.lists(
    st.tuples(st.text("abcxyz", min_size=1, max_size=5), st.text("abc123%", max_size=5)), min_size=1, max_size=5
)


@given(parameters, st.integers(min_value=0, max_value=5))
def test_where_a_reader_came_from_never_matters(pairs: list[tuple[str, str]], place: int) -> None:
    plain = [f"{name}={value}" for name, value in pairs]
    traced = [*plain[:place], "utm_campaign=launch", *plain[place:]]
    assert canonical_url(f"{ARTICLE}?{'&'.join(traced)}") == canonical_url(f"{ARTICLE}?{'&'.join(plain)}")


@given(
    st.from_regex(
        r"https?://[a-z0-9.-]{1,60}(/[A-Za-z0-9/._~%+=&,!;:@'$*()-]{0,30})?(\?[a-z=&;%?]{0,10})?(#[a-z/?]{0,10})?",
        fullmatch=True,
    ),
    st.sampled_from(["", "https://example.org/a/b?c#d", "http://example.org", "mailto:a@example.org", "/relative"]),
)
def test_a_plain_address_resolves_to_itself_as_the_library_says(url: str, base: str) -> None:
    if is_plain_address(url):
        assert urljoin(base, url) == url
        assert is_web_url(url)
        assert absolute_url(url, base) == url


@pytest.mark.parametrize(
    "url",
    [
        *("HTTPS://example.org/", "https://example.org/?", "https://example.org/#", "https://example.org/a;b"),
        *("https://example.org:80/", "https://user@example.org/", "https://[::1]/", "https://exämple.org/"),
        *("https://example.org/a b", "https://example.org/\n", "\thttps://example.org/", "https://example.org\\@evil/"),
        *(
            "javascript:alert(1)",
            "//example.org/",
            "https:example.org",
            "https://localhost",
            f"https://{'a' * 64}.org/",
        ),
        *("https://example.org/a?b?c", "ftp://example.org/", "https:///a", "https://.org/", "https://example..org/"),
    ],
)
def test_what_is_unusual_about_an_address_is_looked_at_closely(url: str) -> None:
    assert not is_plain_address(url)


def test_an_ordinary_address_is_plain_and_too_long_a_one_is_none() -> None:
    url = "https://www.example.org/2024/05/a-title.html?id=1&b=%20#part"
    assert is_plain_address(url)
    assert absolute_url(f"{url}{'x' * MAX_LENGTH}", "") == ""
