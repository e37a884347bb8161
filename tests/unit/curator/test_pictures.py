"""Addresses of pictures, and what counts as one."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pressbox.core.errors import NotFoundError
from pressbox.curator.reading.pictures import LONGEST_ADDRESS, PictureAddresses, find_type

ADDRESSES = PictureAddresses("/reader/pictures", ["key"])


def parts(made: str) -> tuple[str, str]:
    _, _, _, signature, encoded = made.split("/")
    return signature, encoded


@given(some.text(min_size=1).map(lambda path: f"https://example.org/{path}"))
def test_an_address_comes_back_as_it_was(address: str) -> None:
    address = address.encode("utf-8", "ignore").decode()
    assert ADDRESSES.read(*parts(ADDRESSES.make(address))) == address


@pytest.mark.parametrize(
    ("signature", "encoded"),
    [
        ("A" * 24, parts(ADDRESSES.make("https://example.org/1"))[1]),
        (parts(ADDRESSES.make("https://example.org/1"))[0], parts(ADDRESSES.make("https://example.org/2"))[1]),
        parts(PictureAddresses("/reader/pictures", ["another"]).make("https://example.org/1")),
        ("", ""),
        ("é", "%%%"),
        ("A", "\xff"),
    ],
)
def test_only_what_we_signed_is_read(signature: str, encoded: str) -> None:
    with pytest.raises(NotFoundError):
        ADDRESSES.read(signature, encoded)


def test_older_keys_still_read() -> None:
    rotated = PictureAddresses("/reader/pictures", ["new", "key"])
    assert rotated.read(*parts(ADDRESSES.make("https://example.org/1"))) == "https://example.org/1"


def test_every_picture_of_a_page_leads_to_us() -> None:
    page = (
        '<p><img alt="a" src="https://example.org/a.png?x=1&amp;y=2" loading="lazy"> <IMG src="http://example.org/b">'
        '<img src="/static/own.png"><a href="https://example.org/c.png">link</a></p>'
    )
    shown = ADDRESSES.rewrite(page)
    assert 'src="https://' not in shown
    assert ADDRESSES.make("https://example.org/a.png?x=1&y=2") in shown
    assert ADDRESSES.make("http://example.org/b") in shown
    assert '<img src="/static/own.png"><a href="https://example.org/c.png">' in shown


def test_an_endless_address_shows_nothing() -> None:
    assert ADDRESSES.rewrite(f'<img src="https://example.org/{"a" * LONGEST_ADDRESS}">') == '<img src="">'


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"\x89PNG\r\n\x1a\nrest", "image/png"),
        (b"GIF89arest", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x00\x00\x00\x1cftypavifrest", "image/avif"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", None),
        (b"<?xml version='1.0'?><svg/>", None),
        (b"<html>not found</html>", None),
        (b"RIFF\x00\x00\x00\x00WAVE", None),
        (b"", None),
    ],
)
def test_the_bytes_say_what_is_a_picture(body: bytes, kind: str | None) -> None:
    assert find_type(body) == kind
