"""Slugs of events are words of a command line too."""

import secrets
from unittest import mock

from pressbox.soonish.service.events import new_slug


def test_a_slug_never_looks_like_an_option() -> None:
    with mock.patch.object(secrets, "token_urlsafe", side_effect=["-h", "--help", "a-b"]):
        assert new_slug() == "a-b"
