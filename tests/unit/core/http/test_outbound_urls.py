"""Which URLs the outbound client takes."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import InvalidInputError, RefusedAddressError
from pressbox.core.http.url import check_url, host_of, port_of, same_origin


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("http://example.org", "example.org", 80),
        ("HTTPS://Example.ORG/feed?x=1#top", "example.org", 443),
        ("http://example.org.:8080/", "example.org.", 8080),
        ("http://under_score.example/", "under_score.example", 80),
        ("http://bücher.example/", "xn--bcher-kva.example", 80),
        ("http://[2606:4700::1]:81/", "2606:4700::1", 81),
        ("http://0x7f.1/", "0x7f.1", 80),
    ],
)
def test_usable_urls_are_read(text: str, host: str, port: int) -> None:
    url = check_url(text)
    assert (host_of(url), port_of(url)) == (host, port)


@pytest.mark.parametrize(
    "text", ["file:///etc/passwd", "ftp://example.org/", "gopher://x", "javascript:1", "//x/y", "x"]
)
def test_other_schemes_are_refused(text: str) -> None:
    with pytest.raises(RefusedAddressError, match="Only http and https"):
        check_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://anna:sesame-open@example.org/",
        "http://anna@example.org/",
        "http://a\\@b/",
        "http://anna:sesame-open/@example.org/",
        "http://anna:sesame-open@exa\nmple.org/",
    ],
)
def test_credentials_inside_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises((RefusedAddressError, InvalidInputError)) as caught:
        check_url(text)
    assert "sesame-open" not in repr(caught.value)
    assert "anna" not in repr(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://",
        "http:///path",
        "http://a b/",
        "http://exa\nmple.org/",
        "http://%31%32%37.0.0.1/",
        "http://[fe80::1%25eth0]/",
        "http://[1::2::3]/",
        "http://a..b/",
        "http://.../",
        "http://-a/",
        "http://①②⑦.0.0.1/",
        "http://example.org:0/",
        "http://example.org:65536/",
        "http://example.org:port/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 130 + "example/",
        "http://example.org/" + "a" * 9000,
        "http://exa\ud800mple/",
    ],
)
def test_malformed_urls_are_refused(text: str) -> None:
    with pytest.raises((InvalidInputError, RefusedAddressError)):
        check_url(text)


@given(st.text(max_size=60).map(lambda text: "http://" + text))
def test_any_text_is_a_url_or_one_of_our_errors(text: str) -> None:
    try:
        url = check_url(text)
    except (InvalidInputError, RefusedAddressError):
        return
    assert url.scheme in ("http", "https")
    assert host_of(url)
    assert not url.userinfo
    assert 1 <= port_of(url) <= 65535


def test_an_origin_is_scheme_host_and_port() -> None:
    base = httpx.URL("http://example.org/a")
    assert same_origin(base, httpx.URL("http://EXAMPLE.org:80/b"))
    for other in ("https://example.org/a", "http://example.org:81/a", "http://www.example.org/a"):
        assert not same_origin(base, httpx.URL(other))
