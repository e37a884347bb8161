"""How Retry-After is read, and what the report of a send means."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from pressbox.delivery.adapters.send_results import (
    MAX_RETRY_AFTER,
    NO_CONNECTION,
    Exchange,
    SendReport,
    Stage,
    judge_send,
    parse_retry_after,
    read_retry_after,
)
from pressbox.delivery.domain.attempts import AttemptResult


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("7", timedelta(seconds=7)),
        (" 7 ", timedelta(seconds=7)),
        ("99999999999999", MAX_RETRY_AFTER),
        ("Wed, 21 Oct 2015 07:28:00 GMT", timedelta()),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str | None, expected: timedelta | None) -> None:
    assert parse_retry_after(value) == expected


def test_retry_after_as_a_date_is_the_time_until_then() -> None:
    wait = parse_retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True))
    assert wait is not None
    assert timedelta(seconds=57) < wait <= timedelta(seconds=60)


def test_without_a_connection_nothing_can_have_arrived() -> None:
    """The proxy answers 502 when it reaches nothing: that is not the answer of the target."""
    report = SendReport(accepted=False, exchanges=(Exchange(stage=Stage.ANSWERED, status=502),))
    assert judge_send(report, connected=False).reason == NO_CONNECTION
    assert judge_send(report, connected=True).reason == "It answered 502."
    assert judge_send(SendReport(accepted=False, refused="No."), connected=True).result is AttemptResult.REFUSED


@pytest.mark.parametrize("stage", [Stage.UNCONNECTED, Stage.SENT])
def test_a_reason_is_a_sentence_and_names_no_class_of_an_error(stage: Stage) -> None:
    report = SendReport(accepted=False, exchanges=(Exchange(stage=stage, error="ConnectionError"),))
    reason = judge_send(report, connected=True).reason
    assert "Error" not in reason
    assert reason.endswith(".")


# As the services document them, or as users have reported them.
TELEGRAM = {"ok": False, "error_code": 429, "description": "Too Many Requests: retry after 35"}
DISCORD = {"message": "You are being rate limited.", "global": False}
MATRIX = {"errcode": "M_LIMIT_EXCEEDED", "error": "Too many requests"}
NTFY = {"code": 42901, "http": 429, "error": "limit reached: too many requests", "link": "https://ntfy.sh/docs"}


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (TELEGRAM | {"parameters": {"retry_after": 35}}, 35),
        (TELEGRAM | {"parameters": {"retry_after": 43200}}, 3600),
        (DISCORD | {"retry_after": 64.57}, 64.57),
        (DISCORD | {"retry_after": 641570}, 641.57),
        (MATRIX | {"retry_after_ms": 2000}, 2),
        (MATRIX, None),
        (NTFY, None),
        ({"ok": False, "error": "ratelimited"}, None),
        ({"retry_after": True}, None),
        ({"retry_after": -1}, None),
        ({"retry_after": float("nan")}, None),
        ({"retry_after": float("inf")}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": 1e300}, 3600),
        ({"retry_after": 10**400}, 3600),
        ({"retry_after_ms": 10**400}, 3600),
        ({"parameters": []}, None),
        ([], None),
    ],
)
def test_the_time_to_wait_is_read_from_answers_of_services(answer: object, seconds: float | None) -> None:
    found = read_retry_after(json.dumps(answer).encode())
    assert found == (None if seconds is None else timedelta(seconds=seconds))


def test_an_html_page_of_a_proxy_names_no_time() -> None:
    assert read_retry_after(b"<html>error code: 1015</html>") is None


def test_an_answer_that_is_nested_without_end_names_no_time() -> None:
    assert read_retry_after(b"[" * 100_000) is None


def test_too_many_without_a_time_waits_all_the_same_and_other_trouble_does_not() -> None:
    """Three tries within seconds would be refused, and break the channel."""
    busy, down = (judge_send(report(status), connected=True) for status in (429, 503))
    assert (busy.result, busy.retry_after) == (AttemptResult.UNAVAILABLE, timedelta(minutes=1))
    assert (down.result, down.retry_after) == (AttemptResult.UNAVAILABLE, None)


def report(status: int) -> SendReport:
    return SendReport(accepted=False, exchanges=(Exchange(stage=Stage.ANSWERED, status=status),))
