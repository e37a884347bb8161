"""Mail servers as they are: encryption, sign-in, connections that are kept, and servers that end them."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pressbox.delivery.adapters import mail_pool
from pressbox.delivery.adapters.mailer import SmtpMailer
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.settings import SmtpSecurity
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.mail_sink import MailPolicy, MailSink
from pressbox.soonish.settings import SoonishSettings
from tests.certificates import DAY, Authority
from tests.waiting import until

ANNA = "anna@example.org"
USERS = {"events@example.org": "pässword, long"}
SECRET = "pässword, long"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


def mailer(sink: MailSink, security: SmtpSecurity, ca_file: Path | None = None, **changes: Any) -> SmtpMailer:
    values: dict[str, Any] = {
        "smtp_host": "127.0.0.1",
        "smtp_port": sink.smtp_port,
        "smtp_from": "events@example.org",
        "smtp_security": security,
        "smtp_ca_file": ca_file,
    }
    return SmtpMailer(SoonishSettings(**values | changes))


def signed_in(sink: MailSink, security: SmtpSecurity, ca_file: Path, password: str = SECRET) -> SmtpMailer:
    return mailer(sink, security, ca_file, smtp_user="events@example.org", smtp_password=password)


@pytest.mark.parametrize("method", ["PLAIN", "LOGIN"])
@pytest.mark.parametrize("security", [SmtpSecurity.STARTTLS, SmtpSecurity.TLS])
async def test_mail_is_sent_encrypted_and_signed_in(authority: Authority, security: SmtpSecurity, method: str) -> None:
    policy = MailPolicy(
        certificate=authority.sign(),
        is_encrypted_from_start=security is SmtpSecurity.TLS,
        users=USERS,
        methods=(method,),
    )
    async with MailSink(policy=policy) as sink:
        mail = signed_in(sink, security, authority.ca_file)
        for number in range(3):
            assert (await mail.attempt(ANNA, f"Mail {number}", "Größe\n.\n")).result is AttemptResult.ACCEPTED
        assert [item.subject for item in sink.to(ANNA)] == ["Mail 0", "Mail 1", "Mail 2"]
        assert sink.connections == 1, "the connection is kept"
        assert sink.verbs.count("AUTH") == 1, "and signed in once"


async def test_a_wrong_password_is_tried_once_and_says_what_to_do(authority: Authority) -> None:
    policy = MailPolicy(certificate=authority.sign(), users=USERS)
    async with MailSink(policy=policy) as sink:
        mail = signed_in(sink, SmtpSecurity.STARTTLS, authority.ca_file, "wrong")
        attempt = await mail.attempt(ANNA, "x", "y")
        assert attempt.result is AttemptResult.UNAVAILABLE
        assert attempt.is_own_fault
        assert "user name and password (535)" in attempt.reason
        assert "app password" in attempt.reason
        assert attempt.server_pause is not None
        assert attempt.server_pause >= timedelta(minutes=1), "more wrong passwords would lock the account"
        assert sink.verbs.count("AUTH") == 1
        assert sink.received == []


async def test_a_server_without_a_sign_in_is_not_sent_the_password(authority: Authority) -> None:
    async with MailSink(policy=MailPolicy(certificate=authority.sign())) as sink:
        attempt = await signed_in(sink, SmtpSecurity.STARTTLS, authority.ca_file).attempt(ANNA, "x", "y")
        assert attempt.result is AttemptResult.UNAVAILABLE
        assert "no sign-in" in attempt.reason
        assert "AUTH" not in sink.verbs
        assert sink.received == []


async def test_a_server_that_wants_a_sign_in_first_is_not_the_fault_of_the_recipient(authority: Authority) -> None:
    async with MailSink(policy=MailPolicy(certificate=authority.sign(), users=USERS)) as sink:
        attempt = await mailer(sink, SmtpSecurity.NONE).attempt(ANNA, "x", "y")
        assert attempt.result is AttemptResult.UNAVAILABLE
        assert attempt.is_own_fault
        assert "encryption or a sign-in" in attempt.reason


@pytest.mark.parametrize("security", [SmtpSecurity.STARTTLS, SmtpSecurity.TLS])
@pytest.mark.parametrize(
    ("host", "ends_in", "trusts", "words"),
    [
        ("127.0.0.1", DAY, False, "PRESSBOX_SOONISH_SMTP_CA_FILE"),
        ("127.0.0.1", -DAY, True, "not valid today"),
        ("mail.example.org", DAY, True, "for another name"),
    ],
)
async def test_a_certificate_that_cannot_be_trusted_is_refused(
    authority: Authority, security: SmtpSecurity, host: str, ends_in: timedelta, trusts: bool, words: str
) -> None:
    policy = MailPolicy(
        certificate=authority.sign(host, ends_in=ends_in),
        is_encrypted_from_start=security is SmtpSecurity.TLS,
        users=USERS,
    )
    async with MailSink(policy=policy) as sink:
        mail = mailer(
            sink,
            security,
            authority.ca_file if trusts else None,
            smtp_user="events@example.org",
            smtp_password=SECRET,
        )
        attempt = await mail.attempt(ANNA, "x", "y")
        assert attempt.result is AttemptResult.UNAVAILABLE
        assert attempt.is_own_fault
        assert words in attempt.reason
        assert "AUTH" not in sink.verbs, "no password goes to a server that nobody vouches for"
        assert sink.received == []


async def test_a_connection_from_which_starttls_was_taken_away_gets_nothing() -> None:
    async with MailSink(policy=MailPolicy(users=USERS)) as sink:
        mail = mailer(sink, SmtpSecurity.STARTTLS, smtp_user="events@example.org", smtp_password=SECRET)
        attempt = await mail.attempt(ANNA, "x", "y")
        assert attempt.result is AttemptResult.UNAVAILABLE
        assert "no STARTTLS" in attempt.reason
        assert "AUTH" not in sink.verbs
        assert sink.received == []


async def test_tls_at_a_port_without_it_says_so() -> None:
    async with MailSink() as sink:
        attempt = await mailer(sink, SmtpSecurity.TLS).attempt(ANNA, "x", "y")
        assert attempt.result is AttemptResult.UNAVAILABLE
        assert "does not speak TLS" in attempt.reason


async def test_many_mails_share_a_few_connections() -> None:
    async with MailSink() as sink:
        mail = mailer(sink, SmtpSecurity.NONE, smtp_connections=3)
        attempts = await asyncio.gather(*(mail.attempt(f"p{number}@example.org", "x", "y") for number in range(40)))
        assert {attempt.result for attempt in attempts} == {AttemptResult.ACCEPTED}
        assert len({item.recipient for item in sink.received}) == len(sink.received) == 40
        assert 1 <= sink.connections <= 3


async def test_mailers_of_one_process_share_connections() -> None:
    async with MailSink() as sink:
        for _ in range(3):
            assert (await mailer(sink, SmtpSecurity.NONE).attempt(ANNA, "x", "y")).result is AttemptResult.ACCEPTED
        assert sink.connections == 1


async def test_a_refused_recipient_leaves_nothing_behind_for_the_next_one() -> None:
    async with MailSink() as sink:
        mail = mailer(sink, SmtpSecurity.NONE)
        sink.tell("gone@example.org", Kind.GONE)
        assert (await mail.attempt("gone@example.org", "x", "y")).result is AttemptResult.REFUSED
        assert (await mail.attempt(ANNA, "x", "y")).result is AttemptResult.ACCEPTED
        assert [item.recipient for item in sink.received] == [ANNA]
        assert sink.verbs.count("RSET") == 1
        assert sink.connections == 1


async def test_a_kept_connection_that_the_server_closed_is_replaced() -> None:
    async with MailSink() as sink:
        mail = mailer(sink, SmtpSecurity.NONE)
        await mail.attempt(ANNA, "first", "y")
        sink.close_connections()
        assert (await mail.attempt(ANNA, "second", "y")).result is AttemptResult.ACCEPTED
        assert [item.subject for item in sink.to(ANNA)] == ["first", "second"]
        assert sink.connections == 2


async def test_a_server_that_ends_a_connection_after_some_mails_gets_the_next_over_another() -> None:
    async with MailSink(policy=MailPolicy(mails_per_connection=2)) as sink:
        mail = mailer(sink, SmtpSecurity.NONE, smtp_connections=1)
        results = [(await mail.attempt(ANNA, str(number), "y")).result for number in range(5)]
        assert results == [AttemptResult.ACCEPTED] * 5
        assert [item.subject for item in sink.to(ANNA)] == ["0", "1", "2", "3", "4"]
        assert sink.connections == 3


@pytest.mark.parametrize(
    "policy",
    [
        MailPolicy(greeting=b"421 Too many connections\r\n"),
        MailPolicy(mails_per_connection=0),
        MailPolicy(closes_at=b"MAIL"),
        MailPolicy(closes_at=b"RCPT"),
        MailPolicy(closes_at=b"DATA"),
    ],
)
async def test_a_server_that_closes_before_it_has_the_mail_is_tried_later(policy: MailPolicy) -> None:
    async with MailSink(policy=policy) as sink:
        attempt = await mailer(sink, SmtpSecurity.NONE).attempt(ANNA, "x", "y")
        assert attempt.result is AttemptResult.UNAVAILABLE, "nothing was handed over, so it is not uncertain"
        assert attempt.is_own_fault
        assert attempt.server_pause is not None
        assert sink.received == []


async def test_a_connection_that_breaks_in_the_middle_of_a_mail_is_uncertain_and_not_used_again() -> None:
    async with MailSink() as sink:
        mail = mailer(sink, SmtpSecurity.NONE)
        sink.tell(ANNA, Kind.RESET)
        attempt = await mail.attempt(ANNA, "x", "y")
        assert attempt.result is AttemptResult.UNCONFIRMED
        assert len(sink.to(ANNA)) == 1, "it arrived, so a second try would have been a copy"
        assert (await mail.attempt("bob@example.org", "x", "y")).result is AttemptResult.ACCEPTED
        assert sink.connections == 2


async def test_an_idle_connection_is_ended_politely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_pool, "IDLE_SECONDS", 0.05)
    async with MailSink() as sink:
        await mailer(sink, SmtpSecurity.NONE).attempt(ANNA, "x", "y")
        await until(lambda: "QUIT" in sink.verbs, "the end of an idle connection")


async def test_a_connection_is_ended_after_its_share_of_mails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_pool, "MAILS_PER_CONNECTION", 2)
    async with MailSink() as sink:
        mail = mailer(sink, SmtpSecurity.NONE, smtp_connections=1)
        for _ in range(4):
            assert (await mail.attempt(ANNA, "x", "y")).result is AttemptResult.ACCEPTED
        assert sink.connections == 2
