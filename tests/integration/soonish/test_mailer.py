"""Mail to people without an account, against a mail server on loopback that behaves as it is told."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.delivery.adapters import mail_connection
from pressbox.delivery.adapters.mailer import SmtpMailer, unsubscribe_headers
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.settings import SmtpSecurity
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.mail_sink import MailPolicy, MailSink
from pressbox.soonish.settings import SoonishSettings

ANNA = "anna@example.org"


@pytest.fixture
async def sink() -> AsyncIterator[MailSink]:
    async with MailSink() as sink:
        yield sink


def settings(sink: MailSink, **changes: Any) -> SoonishSettings:
    values: dict[str, Any] = {
        "smtp_host": "127.0.0.1",
        "smtp_port": sink.smtp_port,
        "smtp_from": "Events <events@example.org>",
        "smtp_security": SmtpSecurity.NONE,
    }
    return SoonishSettings(**values | changes)


async def test_a_mail_is_plain_text_with_one_click_unsubscription(sink: MailSink) -> None:
    headers = unsubscribe_headers("https://example.org/events/unsubscribe/abc")
    attempt = await SmtpMailer(settings(sink)).attempt(
        ANNA, "Straßenfest", "Größer als je: 19:30 → 20:30\n.\n..", headers
    )
    assert attempt.result is AttemptResult.ACCEPTED
    [mail] = sink.to(ANNA)
    assert mail.sender == "events@example.org"
    assert mail.subject == "Straßenfest"
    assert mail.body.splitlines() == ["Größer als je: 19:30 → 20:30", ".", ".."], "dots at the start of a line survive"
    assert mail.headers["From"] == "Events <events@example.org>"
    assert mail.headers["List-Unsubscribe"] == "<https://example.org/events/unsubscribe/abc>"
    assert mail.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert mail.headers["Auto-Submitted"] == "auto-generated"
    assert mail.headers["Content-Type"].startswith("text/plain")
    assert mail.headers["Message-ID"].endswith("@example.org>")


async def test_a_title_with_a_line_break_begins_no_other_header(sink: MailSink) -> None:
    await SmtpMailer(settings(sink)).attempt(ANNA, "Party\r\nBcc: everybody@example.org", "x")
    [mail] = sink.received
    assert mail.subject == "Party Bcc: everybody@example.org"
    assert "Bcc" not in mail.headers


@pytest.mark.parametrize("to", ["anna@example.org\r\nBcc: b@example.org", "anna", "", "a b@example.org"])
async def test_what_is_no_address_is_refused_without_asking_the_server(sink: MailSink, to: str) -> None:
    attempt = await SmtpMailer(settings(sink)).attempt(to, "x", "y")
    assert attempt.result is AttemptResult.REFUSED
    assert sink.received == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Kind.GONE, AttemptResult.REFUSED),
        (Kind.BUSY, AttemptResult.UNAVAILABLE),
        (Kind.FAILING, AttemptResult.UNAVAILABLE),
        (Kind.RESET, AttemptResult.UNCONFIRMED),
        (Kind.HANGING, AttemptResult.UNCONFIRMED),
    ],
)
async def test_each_misbehaviour_has_its_own_meaning(
    sink: MailSink, kind: Kind, expected: AttemptResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_connection, "CONFIRMATION_SECONDS", 0.5)
    sink.tell(ANNA, kind)
    attempt = await SmtpMailer(settings(sink)).attempt(ANNA, "x", "y")
    assert attempt.result is expected
    assert ANNA not in attempt.reason
    assert len(sink.to(ANNA)) == (1 if expected is AttemptResult.UNCONFIRMED else 0)


async def test_a_mail_server_that_is_away_or_offers_no_tls_is_trouble_and_nothing_is_sent(sink: MailSink) -> None:
    away = await SmtpMailer(settings(sink, smtp_port=1)).attempt(ANNA, "x", "y")
    assert away.result is AttemptResult.UNAVAILABLE
    unsafe = await SmtpMailer(settings(sink, smtp_security=SmtpSecurity.STARTTLS)).attempt(ANNA, "x", "y")
    assert unsafe.result is AttemptResult.UNAVAILABLE
    wrong = settings(sink, smtp_user="us", smtp_password="s3cr3t-password")
    attempt = await SmtpMailer(wrong).attempt(ANNA, "x", "y")
    assert attempt.result is AttemptResult.UNAVAILABLE
    assert "s3cr3t" not in attempt.reason
    assert sink.received == []


async def test_without_a_mail_server_the_reason_names_the_setting(sink: MailSink) -> None:
    attempt = await SmtpMailer(SoonishSettings()).attempt(ANNA, "x", "y")
    assert attempt.result is AttemptResult.UNAVAILABLE
    assert "PRESSBOX_SOONISH_SMTP_HOST" in attempt.reason


async def test_whoever_waits_for_a_mail_hears_of_trouble_as_an_error(sink: MailSink) -> None:
    mailer = SmtpMailer(settings(sink))
    await mailer.send(ANNA, "Confirm", "y")
    assert len(sink.to(ANNA)) == 1
    sink.tell(ANNA, Kind.GONE)
    with pytest.raises(InvalidInputError) as caught:
        await mailer.send(ANNA, "Confirm", "y")
    assert caught.value.field == "email"
    sink.tell(ANNA, Kind.BUSY)
    with pytest.raises(TransientError):
        await mailer.send(ANNA, "Confirm", "y")


async def test_an_address_with_letters_beyond_ascii_is_written_to(sink: MailSink) -> None:
    attempt = await SmtpMailer(settings(sink)).attempt("jürgen@example.org", "x", "y")
    assert attempt.result is AttemptResult.ACCEPTED
    assert len(sink.to("jürgen@example.org")) == 1


async def test_a_domain_with_letters_beyond_ascii_needs_nothing_of_the_server() -> None:
    async with MailSink(policy=MailPolicy(extensions=())) as sink:
        sender = "Münchner Runde <runde@münchen.example>"
        mailer = SmtpMailer(settings(sink, smtp_from=sender))
        assert (await mailer.attempt("info@müller.example", "x", "y")).result is AttemptResult.ACCEPTED
        [mail] = sink.to("info@xn--mller-kva.example")
        assert mail.sender == "runde@xn--mnchen-3ya.example"
        assert mail.headers["From"].startswith("Münchner Runde <runde@xn--")
        refused = await mailer.attempt("jürgen@example.org", "x", "y")
        assert refused.result is AttemptResult.REFUSED
        assert "such characters" in refused.reason
        assert len(sink.received) == 1


async def test_a_sender_that_cannot_be_used_is_not_the_fault_of_the_recipient(sink: MailSink) -> None:
    attempt = await SmtpMailer(settings(sink, smtp_from="Events")).attempt(ANNA, "x", "y")
    assert attempt.result is AttemptResult.UNAVAILABLE
    assert attempt.is_own_fault
    assert "sender address" in attempt.reason


async def test_a_mail_that_is_larger_than_the_server_takes_is_refused_before_it_is_sent() -> None:
    async with MailSink(policy=MailPolicy(extensions=("SIZE 2000",))) as sink:
        mailer = SmtpMailer(settings(sink))
        assert (await mailer.attempt(ANNA, "x", "y")).result is AttemptResult.ACCEPTED
        attempt = await mailer.attempt(ANNA, "x", "y" * 3000)
        assert attempt.result is AttemptResult.REFUSED
        assert "larger" in attempt.reason
        assert len(sink.received) == 1


@pytest.mark.parametrize("farewell", [b"", b"421 Closing\r\n", b"500 What?\r\n"])
async def test_what_the_server_accepted_is_sent_whatever_it_answers_to_the_farewell(
    farewell: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_connection, "QUIT_SECONDS", 0.2)
    async with MailSink(policy=MailPolicy(farewell=farewell)) as sink:
        mailer = SmtpMailer(settings(sink))
        attempt = await mailer.attempt(ANNA, "x", "y")
        await mailer.close()
        assert attempt.result is AttemptResult.ACCEPTED
        assert len(sink.to(ANNA)) == 1


async def test_what_our_own_server_refuses_for_now_is_not_the_fault_of_the_recipient(sink: MailSink) -> None:
    sink.tell(ANNA, Kind.BUSY)
    assert (await SmtpMailer(settings(sink)).attempt(ANNA, "x", "y")).is_own_fault
    assert (await SmtpMailer(settings(sink, smtp_port=1)).attempt(ANNA, "x", "y")).is_own_fault
    sink.tell(ANNA, Kind.GONE)
    assert not (await SmtpMailer(settings(sink)).attempt(ANNA, "x", "y")).is_own_fault
