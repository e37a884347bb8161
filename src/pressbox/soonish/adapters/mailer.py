"""Sends plain-text mail through the mail server of this instance."""

import asyncio
import re
import smtplib
import ssl
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, make_msgid, parseaddr
from types import MappingProxyType

from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.core.logs import get_logger
from pressbox.soonish.domain.delivery import AttemptResult
from pressbox.soonish.ports import Attempt
from pressbox.soonish.settings import SmtpSecurity, SoonishSettings

log = get_logger(__name__)

AT_ONCE = 8
TIMEOUT_SECONDS = 20.0
QUIT_SECONDS = 2.0
# The address was validated when it was given; this keeps out what could become another header or command.
_ADDRESS = re.compile(r"[^\s<>@,;:\x00-\x1f]+@[^\s<>@,;:\x00-\x1f]+")
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


def unsubscribe_headers(unsubscribe_url: str) -> Mapping[str, str]:
    """One-click headers of RFC 8058: the mail program sends a POST; opening the link changes nothing."""
    return {"List-Unsubscribe": f"<{unsubscribe_url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


class SmtpMailer:
    """One per process."""

    def __init__(self, settings: SoonishSettings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mail")

    @property
    def is_configured(self) -> bool:
        return bool(self._settings.smtp_host and self._settings.smtp_from)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def send(self, to: str, subject: str, body: str, headers: Mapping[str, str] = NO_HEADERS) -> None:
        """Raise an error if the mail was not accepted; a mail that may have arrived is no error."""
        attempt = await self.attempt(to, subject, body, headers)
        if attempt.result is AttemptResult.REFUSED:
            raise InvalidInputError("The mail server does not accept mail for this address.", field="email")
        if attempt.result is AttemptResult.UNAVAILABLE:
            raise TransientError("No mail can be sent at the moment. Try again later.")

    async def attempt(self, to: str, subject: str, body: str, headers: Mapping[str, str] = NO_HEADERS) -> Attempt:
        """Try once and return the result, for the ledger."""
        if not self.is_configured:
            return _not_now("No mail server is set. An administrator sets PRESSBOX_SOONISH_SMTP_HOST and _SMTP_FROM.")
        try:
            message = self._build_message(to, subject, body, headers)
        except ValueError:
            # The text of the error quotes the address, which is private.
            return Attempt(AttemptResult.REFUSED, "The address cannot be used in a mail.")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._deliver, to, message)

    def _build_message(self, to: str, subject: str, body: str, headers: Mapping[str, str]) -> EmailMessage:
        message = EmailMessage()
        sender = self._settings.smtp_from or ""
        message["From"] = sender
        message["To"] = _address(to)
        # A line break would begin another header.
        message["Subject"] = " ".join(subject.split())
        message["Date"] = format_datetime(datetime.now(UTC))
        message["Message-ID"] = make_msgid(domain=parseaddr(sender)[1].rpartition("@")[2] or None)
        message["Auto-Submitted"] = "auto-generated"
        for name, value in headers.items():
            message[name] = value
        message.set_content(body, cte="quoted-printable")
        return message

    def _deliver(self, to: str, message: EmailMessage) -> Attempt:
        try:
            server = self._connect()
            try:
                return _hand_over(server, parseaddr(self._settings.smtp_from or "")[1], to, message)
            finally:
                _say_goodbye(server)
        except smtplib.SMTPResponseException as error:
            # Greeting, TLS or sign-in: the cause is our settings or the server, never the recipient's address.
            log.warning("mail_server_refused", msg="The mail server does not accept our mail", code=error.smtp_code)
            return _not_now(f"The mail server of this instance answered {error.smtp_code}.")
        except (OSError, smtplib.SMTPException) as error:
            log.warning("mail_server_away", msg="The mail server cannot be used", kind=type(error).__name__)
            return _not_now("The mail server of this instance could not be reached.")

    def _connect(self) -> smtplib.SMTP:
        settings = self._settings
        assert settings.smtp_host is not None
        if settings.smtp_security is SmtpSecurity.TLS:
            context = ssl.create_default_context()
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                settings.smtp_host, settings.smtp_port, timeout=TIMEOUT_SECONDS, context=context
            )
        else:
            server = smtplib.SMTP(settings.smtp_host, settings.smtp_port, timeout=TIMEOUT_SECONDS)
        try:
            if settings.smtp_security is SmtpSecurity.STARTTLS:
                server.starttls(context=ssl.create_default_context())
            if settings.smtp_user and settings.smtp_password:
                server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
            server.ehlo_or_helo_if_needed()
        except (OSError, smtplib.SMTPException):
            server.close()
            raise
        return server


def _address(to: str) -> Address:
    if _ADDRESS.fullmatch(to) is None:
        raise ValueError("not an address")
    name, _, domain = to.rpartition("@")
    return Address(username=name, domain=domain)


def _hand_over(server: smtplib.SMTP, sender: str, to: str, message: EmailMessage) -> Attempt:
    """Step by step, because the result depends on how far it came."""
    options = [] if to.isascii() else ["SMTPUTF8", "BODY=8BITMIME"]
    if options and not server.has_extn("smtputf8"):
        return Attempt(AttemptResult.REFUSED, "The mail server does not support addresses with such characters.")
    code, _ = server.mail(sender, options)
    if code != 250:
        return _not_now(f"The mail server does not accept mail from us ({code}).")
    code, _ = server.rcpt(to)
    if code not in (250, 251):
        return _judge_code(code)
    try:
        code, _ = server.data(message.as_bytes(policy=SMTPUTF8 if options else SMTP))
    except smtplib.SMTPDataError as error:
        return _judge_code(error.smtp_code)
    except (OSError, smtplib.SMTPServerDisconnected):
        return Attempt(AttemptResult.UNCONFIRMED, "The mail was handed over, but not confirmed.")
    return Attempt(AttemptResult.ACCEPTED) if code == 250 else _judge_code(code)


def _judge_code(code: int) -> Attempt:
    """Judge by the first digit: 4 means later, 5 means never."""
    reason = f"The mail server answered {code}."
    return Attempt(AttemptResult.REFUSED, reason) if code >= 500 else _not_now(reason)


def _not_now(reason: str) -> Attempt:
    """Every "later" comes from the mail server of this instance: it says nothing about the recipient."""
    return Attempt(AttemptResult.UNAVAILABLE, reason, is_own_fault=True)


def _say_goodbye(server: smtplib.SMTP) -> None:
    """End the session. What was accepted before stays accepted, whatever the server answers now."""
    with suppress(OSError, smtplib.SMTPException):
        if server.sock is not None:
            server.sock.settimeout(QUIT_SECONDS)
        server.quit()
    server.close()
