"""Of an address no more than its host is said."""

import pytest

from pressbox.core.addresses import hide_addresses, host_of


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://www.news.example/feed?token=1", "news.example"),
        ("https://user:pass@news.example:8443/feed", "news.example"),
        ("ntfy://ntfy.example/topic", "ntfy.example"),
        ("http://[::1]:80/x", "::1"),
        ("http://[broken/x", ""),
        ("no address", ""),
    ],
)
def test_the_host_of_an_address(address: str, host: str) -> None:
    assert host_of(address) == host


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Articles of https://news.example/feed?token=1", "Articles of news.example"),
        ('{"a": "https://a.example/1?x", "b": "HTTP://b.example"}', '{"a": "a.example", "b": "b.example"}'),
        ("tgram://123:secret/456 failed", "123 failed"),
        ("http://[broken/x", "…"),
        ("nothing to hide: a/b?c", "nothing to hide: a/b?c"),
    ],
)
def test_addresses_in_a_text_become_hosts(text: str, shown: str) -> None:
    assert hide_addresses(text) == shown
