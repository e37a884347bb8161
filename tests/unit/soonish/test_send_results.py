"""How Retry-After is read, and what the report of a send means."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from pressbox.soonish.adapters.send_results import (
    MAX_RETRY_AFTER,
    NO_CONNECTION,
    Exchange,
    SendReport,
    Stage,
    judge_send,
    parse_retry_after,
)
from pressbox.soonish.domain.delivery import AttemptResult


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
