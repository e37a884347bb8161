from datetime import UTC, datetime, timedelta

import pyotp
import pytest

from pressbox.core.accounts import recovery_codes, totp
from pressbox.core.qr import qr_image

NOW = datetime(2026, 3, 1, 12, 0, 10, tzinfo=UTC)
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def code(moment: datetime) -> str:
    return pyotp.TOTP(SECRET).at(moment)


@pytest.mark.parametrize(("seconds", "accepted"), [(-60, False), (-30, True), (0, True), (30, True), (60, False)])
def test_a_code_may_be_one_step_early_or_late(seconds: int, accepted: bool) -> None:
    found = totp.matching_step(SECRET, code(NOW + timedelta(seconds=seconds)), NOW, last_step=0)
    assert (found is not None) is accepted


def test_a_code_is_not_accepted_twice_and_none_before_it() -> None:
    used = totp.matching_step(SECRET, code(NOW), NOW, last_step=0)
    assert used == totp.step_at(NOW)
    assert totp.matching_step(SECRET, code(NOW), NOW, last_step=used) is None
    assert totp.matching_step(SECRET, code(NOW - timedelta(seconds=30)), NOW, last_step=used) is None
    assert totp.matching_step(SECRET, code(NOW + timedelta(seconds=30)), NOW, last_step=used) == used + 1


@pytest.mark.parametrize("typed", ["", "12345", "1234567", "abcdef", "１２３４５６", "\u0661" * 6, "12 456"])
def test_what_is_not_six_digits_is_no_code(typed: str) -> None:
    assert totp.matching_step(SECRET, typed, NOW, last_step=0) is None


def test_the_uri_names_us_and_the_person_and_the_picture_needs_no_script() -> None:
    uri = totp.provisioning_uri(SECRET, "anna@example.org")
    assert uri.startswith("otpauth://totp/Pressbox:anna%40example.org?")
    assert f"secret={SECRET}" in uri
    assert qr_image(uri).startswith("data:image/svg+xml")
    assert totp.grouped(SECRET).replace(" ", "") == SECRET
    assert len(totp.new_secret()) == 32
    assert totp.new_secret() != totp.new_secret()


def test_recovery_codes_differ_and_survive_being_typed() -> None:
    codes = {recovery_codes.new_code() for _ in range(200)}
    assert len(codes) == 200
    for made in codes:
        letters = recovery_codes.normalise(made)
        assert letters is not None
        assert len(letters) == 15
        assert recovery_codes.normalise(f"  {made.upper().replace('-', ' ')} ") == letters


@pytest.mark.parametrize("typed", ["", "123456", "aaaaa-aaaaa-aaaa", "aaaaa-aaaaa-aaaa!", "ooooo-ooooo-ooooo"])
def test_what_is_no_recovery_code_is_not_looked_up(typed: str) -> None:
    assert recovery_codes.normalise(typed) is None
