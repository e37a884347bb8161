from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.config import Settings, WebSettings
from pressbox.core.errors import ConfigurationError
from pressbox.core.web.addresses import client_address, host_name, origin_of, own_addresses, trusted_networks
from pressbox.core.web.errors import safe_next, sign_in_location
from pressbox.core.web.identity import bearer_token, refuse_open_beyond_loopback, session_cookie_name
from pressbox.core.web.security import origin_is_ours

OWN = frozenset({"http://localhost:8030", "https://press.example.org"})


@pytest.mark.parametrize(
    ("origin", "fetch_site", "referer", "has_cookie", "ours"),
    [
        ("http://localhost:8030", None, None, True, True),
        ("https://press.example.org", None, None, True, True),
        ("https://press.example.org:443", None, None, True, True),
        # The origin decides, whatever the others say.
        ("http://evil.example", "same-origin", "http://localhost:8030/", True, False),
        ("null", None, None, True, False),
        ("", None, None, False, False),
        ("http://localhost:8031", None, None, True, False),
        ("http://press.example.org", None, None, True, False),
        ("https://press.example.org.evil.example", None, None, True, False),
        ("http://localhost:8030@evil.example", None, None, True, False),
        ("http://localhost:99999", None, None, True, False),
        (None, "same-origin", None, True, True),
        (None, "none", None, True, True),
        (None, "same-site", None, True, False),
        (None, "cross-site", "http://localhost:8030/", True, False),
        (None, None, "http://localhost:8030/account", True, True),
        (None, None, "http://evil.example/http://localhost:8030/", True, False),
        (None, None, "", True, False),
        # A program without cookies carries no authority that a site could abuse.
        (None, None, None, False, True),
        (None, None, None, True, False),
    ],
)
def test_only_our_own_pages_may_change_something(
    origin: str | None, fetch_site: str | None, referer: str | None, has_cookie: bool, ours: bool
) -> None:
    decided = origin_is_ours(OWN, origin=origin, fetch_site=fetch_site, referer=referer, has_cookie=has_cookie)
    assert decided is ours


@pytest.mark.parametrize("target", ["/", "/activity", "/activity?state=failed&x=1", "/a/b#c", "/sign-inn", "/ünï"])
def test_a_path_of_ours_is_a_safe_next(target: str) -> None:
    assert safe_next(target) == target


@pytest.mark.parametrize(
    "target",
    [
        None, "", "activity", "//evil.example", "///evil.example", "/\\evil.example", "\\/evil.example",
        "/\t/evil.example",
        "/\n/evil.example", "http://evil.example", "https:evil.example", "javascript:alert(1)", " /activity",
        "/sign-in?next=/sign-in", "/sign-out", "/set-up?token=x", "/x\r\nSet-Cookie: a=b", "/" + "x" * 2000,
    ],
)  # fmt: skip
def test_anything_else_leads_to_the_first_page(target: str | None) -> None:
    assert safe_next(target) == "/"


def test_the_way_to_sign_in_keeps_where_one_wanted_to_go() -> None:
    assert sign_in_location("/activity?a=1&b=2") == "/sign-in?next=/activity%3Fa%3D1%26b%3D2"
    assert sign_in_location("//evil.example") == "/sign-in"


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost:8030", "localhost"), ("Press.Example.ORG.", "press.example.org"), ("[::1]:8030", "::1"),
        ("127.0.0.1", "127.0.0.1"), ("", None), ("a b", None), ("evil@localhost", None), ("localhost:port", None),
        ("localhost/evil", None), (".", None), ("[::1", None), ("localhost:8030:1", None), ("lö", None),
    ],
)  # fmt: skip
def test_a_host_header_has_a_name_or_is_refused(header: str, name: str | None) -> None:
    assert host_name(header) == name


def test_own_names_are_loopback_the_public_one_and_what_is_allowed() -> None:
    own = own_addresses(
        WebSettings(public_url="https://Press.example.org/", allowed_hosts=("intern.example.org:80", "*.lan.example"))
    )
    for name in ("localhost", "127.0.0.1", "::1", "press.example.org", "intern.example.org", "tv.lan.example"):
        assert own.knows(name)
    for name in ("example.org", "lan.example", "evil.example", "xlan.example", "0.0.0.0", ""):
        assert not own.knows(name)
    assert own.public_origin == "https://press.example.org"
    assert not own_addresses(WebSettings(host="0.0.0.0")).knows("0.0.0.0")
    assert own_addresses(WebSettings(host="192.0.2.7")).knows("192.0.2.7")


@pytest.mark.parametrize(
    "web",
    [
        WebSettings(public_url="press.example.org"),
        WebSettings(public_url="ftp://press.example.org"),
        WebSettings(allowed_hosts=("http://x",)),
        WebSettings(allowed_hosts=("*",)),
    ],
)
def test_addresses_that_cannot_be_used_are_named_at_start(web: WebSettings) -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_WEB_"):
        own_addresses(web)


def test_origins_are_written_as_browsers_do() -> None:
    assert origin_of("HTTPS://Press.Example.org:443/a?b") == "https://press.example.org"
    assert origin_of("http://[::1]:8030/") == "http://[::1]:8030"
    assert origin_of("http://[::1") is None
    assert origin_of("data:text/plain,x") is None


def test_only_trusted_proxies_are_believed() -> None:
    trusted = trusted_networks(WebSettings(trusted_proxies=("10.0.0.0/8", "::1")))
    assert client_address("192.0.2.1", ["198.51.100.7"], trusted) == "192.0.2.1"
    assert client_address("10.0.0.1", ["198.51.100.7"], trusted) == "198.51.100.7"
    # What the client itself put in front is not believed, nor what cannot be read.
    assert client_address("10.0.0.1", ["1.1.1.1, 198.51.100.7, 10.0.0.2"], trusted) == "198.51.100.7"
    assert client_address("10.0.0.1", ["1.1.1.1", "198.51.100.7"], trusted) == "198.51.100.7"
    assert client_address("10.0.0.1", ["nonsense"], trusted) == "10.0.0.1"
    assert client_address("::ffff:10.0.0.1", ["198.51.100.7"], trusted) == "198.51.100.7"
    assert client_address("10.0.0.1", [], trusted) == "10.0.0.1"
    with pytest.raises(ConfigurationError, match="TRUSTED_PROXIES"):
        trusted_networks(WebSettings(trusted_proxies=("proxy.example.org",)))


def test_bearer_tokens_count_on_the_api_only() -> None:
    assert bearer_token("/api/account", "Bearer abc") == "abc"
    assert bearer_token("/api/account", "bearer  abc ") == "abc"
    assert bearer_token("/account", "Bearer abc") is None
    assert bearer_token("/apiary", "Bearer abc") is None
    assert bearer_token("/api/account", "Basic abc") is None
    assert bearer_token("/api/account", "") is None


def test_over_https_the_cookie_is_bound_to_the_host() -> None:
    assert session_cookie_name(Settings()) == "pressbox_session"
    secure = Settings(web=WebSettings(public_url="https://press.example.org"))
    assert session_cookie_name(secure) == "__Host-pressbox_session"


@pytest.mark.parametrize(
    "web",
    [
        WebSettings(host="0.0.0.0"),
        WebSettings(host="192.0.2.7"),
        WebSettings(host="::"),
        WebSettings(public_url="https://press.example.org"),
    ],
)
def test_the_open_mode_refuses_to_be_reachable(web: WebSettings) -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_OPEN"):
        refuse_open_beyond_loopback(Settings(open=True, web=web))
    refuse_open_beyond_loopback(Settings(web=web))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_the_open_mode_works_on_loopback_as_long_as_no_proxy_leads_there(host: str) -> None:
    refuse_open_beyond_loopback(Settings(open=True, web=WebSettings(host=host)))
    reached = WebSettings(host=host, public_url="https://press.example.org")
    with pytest.raises(ConfigurationError, match="PRESSBOX_OPEN"):
        refuse_open_beyond_loopback(Settings(open=True, web=reached))


@given(st.text(alphabet=st.sampled_from("/\\.:@?#%\t\n\r aehx0\u2028"), max_size=30) | st.text(max_size=60))
def test_no_text_at_all_leads_to_another_site(text: str) -> None:
    # As browsers read an address: without control characters, and with a backslash for a slash.
    read = "".join(character for character in safe_next(text) if character not in "\t\n\r").replace("\\", "/")
    assert read.startswith("/")
    assert not read.startswith("//")
    assert urlsplit(urljoin("http://localhost:8030/sign-in", read)).netloc == "localhost:8030"


@given(st.text(max_size=60))
def test_no_origin_that_is_not_written_like_ours_counts_as_ours(origin: str) -> None:
    ours = origin_is_ours(OWN, origin=origin, fetch_site=None, referer=None, has_cookie=True)
    assert not ours or origin_of(origin) in OWN
