"""Which keys the object store takes."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import InvalidInputError
from pressbox.core.objects.store import MAX_KEY_BYTES, check_key, check_prefix


@pytest.mark.parametrize("key", ["a", "a/b", "clips/2026/goal-1.mp4", "ü", "a b", ".hidden", "a..b", "x" * 240])
def test_ordinary_keys_pass(key: str) -> None:
    assert check_key(key) == key


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/",
        "/etc/passwd",
        "a/",
        "a//b",
        ".",
        "..",
        "../a",
        "a/..",
        "a/../b",
        "a/./b",
        "a\\b",
        "a\x00b",
        "a\nb",
        "a\x7fb",
        "a\u202eb",
        "a\ud800b",
        "x" * 241,
        "ü" * 121,
        "ab/" * 400 + "c",
        "clip#1",
        "clip#1/part",
    ],
)
def test_dangerous_keys_are_refused_with_a_reason(key: str) -> None:
    with pytest.raises(InvalidInputError, match="This object key ") as caught:
        check_key(key)
    assert caught.value.field == "key"


@given(st.text())
def test_whatever_passes_stays_inside_its_folder(key: str) -> None:
    try:
        check_key(key)
    except InvalidInputError:
        return
    path = PurePosixPath("folder") / key
    assert path.parts == ("folder", *key.split("/"))
    assert ".." not in path.parts
    assert len(key.encode()) <= MAX_KEY_BYTES


@pytest.mark.parametrize(("prefix", "folder"), [("", ""), ("a", "a"), ("a/", "a"), ("a/b/", "a/b")])
def test_a_prefix_is_a_folder_with_or_without_its_slash(prefix: str, folder: str) -> None:
    assert check_prefix(prefix) == folder


@pytest.mark.parametrize("prefix", ["/", "//", "/a", "a//", "../", "a/.."])
def test_a_prefix_cannot_leave_the_store_either(prefix: str) -> None:
    with pytest.raises(InvalidInputError):
        check_prefix(prefix)
