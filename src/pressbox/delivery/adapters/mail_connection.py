"""One connection to the mail server of this instance: opened, encrypted and signed in once, for many mails.

Every error of smtplib is an OSError.
"""

import base64
import re
import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from pressbox.delivery.adapters.mail_trouble import BUSY_PAUSE, MailServerError, explain_connection, explain_sign_in
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.ports import Attempt
from pressbox.delivery.settings import DeliverySettings, SmtpSecurity

TIMEOUT_SECONDS = 20.0
# A server may look through a whole mail before it confirms it.
CONFIRMATION_SECONDS = 60.0
QUIT_SECONDS = 2.0
_CLOSING = 421
_LEADING_DOT = re.compile(rb"(?m)^\.")


@dataclass(frozen=True)
class MailServer:
    """Where mail is handed over, and as whom."""

    host: str
    port: int
    security: SmtpSecurity
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: Path | None = None

    @classmethod
    def from_settings(cls, settings: DeliverySettings) -> "MailServer":
        password = settings.smtp_password.get_secret_value() if settings.smtp_password else ""
        return cls(
            host=settings.smtp_host or "",
            port=settings.smtp_port,
            security=settings.smtp_security,
            user=settings.smtp_user or "",
            password=password,
            ca_file=settings.smtp_ca_file,
        )


@dataclass(frozen=True)
class Envelope:
    """One mail to one recipient. `is_international`: an address in it needs SMTPUTF8."""

    sender: str
    recipient: str = field(repr=False)
    content: bytes = field(repr=False)
    is_international: bool = False


class ClosedError(Exception):
    """The server ended the connection before it had the mail: it can be handed over again."""

    def __init__(self, *, said_busy: bool = False) -> None:
        super().__init__("closed")
        self.said_busy = said_busy


class MailConnection:
    """`handed_over` counts the mails. Used by one thread at a time."""

    def __init__(self, smtp: smtplib.SMTP) -> None:
        self._smtp = smtp
        self.handed_over = 0
        self.is_open = True

    @classmethod
    def open(cls, server: MailServer) -> "MailConnection":
        """Raise a MailServerError that says what to do when the server cannot be used."""
        try:
            smtp = _connect(server)
        except OSError as error:
            raise explain_connection(error, server.security) from error
        try:
            if server.security is SmtpSecurity.STARTTLS:
                smtp.starttls(context=_trust(server))
            smtp.ehlo_or_helo_if_needed()
        except OSError as error:
            smtp.close()
            raise explain_connection(error, server.security) from error
        try:
            if server.user and server.password:
                _sign_in(smtp, server)
        except OSError as error:
            smtp.close()
            raise explain_sign_in(error) from error
        return cls(smtp)

    def hand_over(self, envelope: Envelope) -> Attempt:
        """Step by step, because the result depends on how far it came. Raise ClosedError before the mail itself."""
        self.handed_over += 1
        try:
            refusal = self._announce(envelope)
        except OSError as error:
            self.close()
            raise ClosedError from error
        if refusal is not None:
            self._reset()
            return refusal
        try:
            code = self._send_content(envelope.content)
        except OSError:
            self.close()
            return Attempt(AttemptResult.UNCONFIRMED, "The mail was handed over, but not confirmed.")
        if code == _CLOSING:
            self.close()
        return Attempt(AttemptResult.ACCEPTED) if code == 250 else _judge_code(code)

    def close(self) -> None:
        self.is_open = False
        self._smtp.close()

    def say_goodbye(self) -> None:
        """End the session. What was accepted before stays accepted, whatever the server answers now."""
        with suppress(OSError):
            if self._smtp.sock is not None:
                self._smtp.sock.settimeout(QUIT_SECONDS)
            self._smtp.quit()
        self.close()

    def _announce(self, envelope: Envelope) -> Attempt | None:
        """Sender, recipient and DATA; None when the server is ready for the mail."""
        smtp = self._smtp
        options = []
        if envelope.is_international:
            if not smtp.has_extn("smtputf8"):
                return Attempt(
                    AttemptResult.REFUSED, "The mail server does not support addresses with such characters."
                )
            options += ["SMTPUTF8", *(["BODY=8BITMIME"] if smtp.has_extn("8bitmime") else [])]
        if smtp.has_extn("size"):
            most = smtp.esmtp_features["size"].strip()
            if most.isdecimal() and 0 < int(most) < len(envelope.content):
                return Attempt(AttemptResult.REFUSED, "The mail is larger than the mail server takes.")
            options.append(f"SIZE={len(envelope.content)}")
        code = self._check_open(smtp.mail(envelope.sender, options)[0])
        if code != 250:
            return _judge_sender(code)
        code = self._check_open(smtp.rcpt(envelope.recipient)[0])
        if code not in (250, 251):
            return _judge_code(code)
        code = self._check_open(smtp.docmd("DATA")[0])
        return None if code == 354 else _judge_code(code)

    def _check_open(self, code: int) -> int:
        if code == _CLOSING:
            self.close()
            raise ClosedError(said_busy=True)
        return code

    def _send_content(self, content: bytes) -> int:
        assert self._smtp.sock is not None
        self._smtp.sock.settimeout(CONFIRMATION_SECONDS)
        ending = b"" if content.endswith(b"\r\n") else b"\r\n"
        self._smtp.send(_LEADING_DOT.sub(b"..", content) + ending + b".\r\n")
        code, _ = self._smtp.getreply()
        self._smtp.sock.settimeout(TIMEOUT_SECONDS)
        return code

    def _reset(self) -> None:
        """Whatever a refused mail has left behind must not reach the next one."""
        try:
            if self._smtp.rset()[0] != 250:
                self.say_goodbye()
        except OSError:
            self.close()


def _connect(server: MailServer) -> smtplib.SMTP:
    if server.security is SmtpSecurity.TLS:
        return smtplib.SMTP_SSL(server.host, server.port, timeout=TIMEOUT_SECONDS, context=_trust(server))
    return smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_SECONDS)


def _trust(server: MailServer) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if server.ca_file is not None:
        context.load_verify_locations(server.ca_file)
    return context


def _sign_in(smtp: smtplib.SMTP, server: MailServer) -> None:
    """One try with one method: a wrong password that is tried by every method locks accounts."""
    offered = smtp.esmtp_features.get("auth", "").upper().split()
    if "PLAIN" in offered:
        code, answer = smtp.docmd("AUTH", "PLAIN " + _encode(f"\0{server.user}\0{server.password}"))
    elif "LOGIN" in offered:
        code, answer = smtp.docmd("AUTH", "LOGIN " + _encode(server.user))
        if code == 334:
            code, answer = smtp.docmd(_encode(server.password))
    else:
        raise smtplib.SMTPNotSupportedError("no method that we know")
    if code not in (235, 503):
        raise smtplib.SMTPAuthenticationError(code, answer)


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _judge_code(code: int) -> Attempt:
    """Judge by the first digit: 4 means later, 5 means never."""
    reason = f"The mail server answered {code}."
    return Attempt(AttemptResult.REFUSED, reason) if code >= 500 else not_now(reason)


def _judge_sender(code: int) -> Attempt:
    """Nobody was named yet, so the cause is our sender address or our rights."""
    if code == 530:
        return not_now("The mail server wants encryption or a sign-in first (530).", BUSY_PAUSE)
    return not_now(f"The mail server does not accept mail from us ({code}).")


def not_now(reason: str, server_pause: timedelta | None = None) -> Attempt:
    """Every "later" comes from the mail server of this instance: it says nothing about the recipient."""
    return Attempt(AttemptResult.UNAVAILABLE, reason, is_own_fault=True, server_pause=server_pause)


def judge_trouble(error: MailServerError) -> Attempt:
    return not_now(error.reason, error.pause)
