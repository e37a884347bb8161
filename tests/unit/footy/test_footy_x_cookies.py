"""A login at X from another browser, and how often it may search."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from pressbox.core.errors import InvalidInputError
from pressbox.core.health import HealthState
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.proxy import GuardedProxy
from pressbox.core.sealing import Seal
from pressbox.footy.adapters.downloads.downloader import ClipDownloader
from pressbox.footy.adapters.downloads.page_program import Job, options
from pressbox.footy.domain.search_turns import WINDOW
from pressbox.footy.web.health import login_part
from pressbox.footy.x.cookies import read_export, write_netscape
from pressbox.footy.x.pace import SearchPace
from pressbox.footy.x.results import LOGIN_PATHS
from pressbox.footy.x.session import Cookie, StoredSession
from tests.shared_data import shared

NOW = datetime(2026, 11, 16, tzinfo=UTC)
LATER = int(NOW.timestamp()) + 10_000
FOLDER = shared("providers/x_twitter/cookies")
RECORDED = sorted(FOLDER.glob("*.txt")) if FOLDER else []
NETSCAPE = f"""# Netscape HTTP Cookie File

#HttpOnly_.x.com\tTRUE\t/\tTRUE\t{LATER}\tauth_token\tsecret
.x.com\tTRUE\t/\tTRUE\t0\tct0\tother
.example.org\tTRUE\t/\tTRUE\t{LATER}\tauth_token\tnot ours
broken line
"""
EXTENSION = [
    {
        "domain": ".x.com",
        "expirationDate": LATER + 0.5,
        "hostOnly": False,
        "httpOnly": True,
        "name": "auth_token",
        "path": "/",
        "sameSite": "no_restriction",
        "secure": True,
        "session": False,
        "storeId": None,
        "value": "secret",
    },
    {"domain": ".x.com", "name": "ct0", "value": "other", "session": True, "sameSite": None},
]


@pytest.mark.parametrize(
    "text",
    [
        NETSCAPE,
        NETSCAPE.replace("\n", "\r\n"),
        "\ufeff" + NETSCAPE,
        NETSCAPE.replace(".x.com", ".twitter.com"),
        json.dumps(EXTENSION),
        json.dumps({"cookies": EXTENSION}),
    ],
)
def test_every_form_of_an_export_is_a_login(text: str) -> None:
    cookies = read_export(text, NOW)
    assert {(cookie.name, cookie.value, cookie.domain) for cookie in cookies} == {
        ("auth_token", "secret", ".x.com"),
        ("ct0", "other", ".x.com"),
    }
    assert {cookie.name: cookie.http_only for cookie in cookies} == {"auth_token": True, "ct0": False}
    assert read_export(write_netscape(cookies), NOW) == [
        cookie.model_copy(update={"expires": float(int(cookie.expires))}) for cookie in cookies
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "neither a cookies.txt"),
        ("<html>no</html>", "neither a cookies.txt"),
        ("[1, 2]", "not the JSON"),
        ("[{", "not the JSON"),
        # Nested without end.
        ("[" * 100_000, "not the JSON"),
        ("[]", "no cookie of x.com"),
        (NETSCAPE.replace("auth_token", "guest_id"), "auth_token is missing or expired"),
        (NETSCAPE.replace(str(LATER), "1000000000"), "auth_token is missing or expired"),
    ],
)
def test_what_is_no_login_is_refused_in_words_without_its_secrets(text: str, words: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(words)) as caught:
        read_export(text, NOW)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_files_of_other_hosts_are_read_and_have_no_login(path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no cookie of x\.com"):
        read_export(path.read_text(), NOW)


@pytest.mark.parametrize(
    ("days", "state", "detail"),
    [
        (15, HealthState.OK, "A login is kept."),
        (13, HealthState.WARNING, "The login ends on 2026-11-29."),
        (-1, HealthState.WARNING, "The login ended on 2026-11-15."),
        (None, HealthState.OK, "A login is kept."),
    ],
)
def test_a_login_that_ends_within_two_weeks_is_a_warning(days: int | None, state: HealthState, detail: str) -> None:
    expires = -1 if days is None else (NOW + timedelta(days=days)).timestamp()
    login = Cookie(name="auth_token", value="x", domain=".x.com", expires=expires)
    other = Cookie(name="guest_id", value="x", domain=".x.com", expires=NOW.timestamp())
    part = login_part([login, other], NOW)
    assert (part.state, part.detail) == (state, detail)
    assert login_part([other], NOW).detail == "No login is kept here."


def test_all_goals_share_the_searches_of_a_window() -> None:
    now = [NOW]
    pace = SearchPace(3, lambda: now[0])
    assert [pace.take() for _ in range(4)] == [None, None, None, WINDOW]
    now[0] += WINDOW
    assert pace.take() is None


def test_a_refusal_is_followed_by_longer_and_longer_pauses() -> None:
    now = [NOW]
    pace = SearchPace(100, lambda: now[0])
    waits = [pace.back_off() for _ in range(6)]
    assert waits == sorted(waits)
    assert waits[-1] == WINDOW
    assert pace.take() == WINDOW
    now[0] += WINDOW
    assert pace.take() is None
    pace.succeed()
    assert pace.back_off() == timedelta(minutes=1)


@pytest.mark.parametrize(
    "path", ["/i/flow/login", "/login", "/account/access", "/i/jf/onboarding/web", "/i/flow/signup"]
)
def test_newer_pages_that_ask_who_is_there_are_known(path: str) -> None:
    assert LOGIN_PATHS.search(path)
    assert not LOGIN_PATHS.search("/search")


def test_the_login_goes_to_pages_of_x_only(tmp_path: Path) -> None:
    session = StoredSession(tmp_path, Seal(["a key"], "footy session at X"), "x.com")
    session.save(read_export(NETSCAPE, NOW))
    downloader = ClipDownloader(cast(GuardedClient, None), cast(GuardedProxy, None), session=session)
    for url in ("https://x.com/fan/status/1", "https://mobile.twitter.com/fan/status/1"):
        assert "auth_token\tsecret" in downloader.load_cookies(url)
    for url in ("https://example.org/x.com", "https://notx.com/a", "https://x.com.example.org/a"):
        assert downloader.load_cookies(url) == ""


def test_the_program_that_reads_pages_gets_the_cookies_as_a_file(tmp_path: Path) -> None:
    job = Job("https://x.com/fan/status/1", "http://127.0.0.1:9", str(tmp_path), 1_000, 5.0, write_netscape([]))
    file = options(job)["cookiefile"]
    assert Path(file).parent == tmp_path
    assert options(replace(job, cookies=""))["cookiefile"] is None
