"""Mail to people without an account, through the mail server of this instance, one plain text at a time."""

import asyncio
import re
import smtplib
import ssl
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
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
# Whether an address is one was decided when it was given; this keeps out what could become another header or command.
_ADDRESS = re.compile(r"[^\s<>@,;:\x00-\x1f]+@[^\s<>@,;:\x00-\x1f]+")
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


def one_click(unsubscribe_url: str) -> Mapping[str, str]:
    """RFC 8058: the button of the mail program posts; whoever only looks at the link changes nothing."""
    return {"List-Unsubscribe": f"<{unsubscribe_url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


class Mailer:
    """One per process."""

    def __init__(self, settings: SoonishSettings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mail")

    @property
    def configured(self) -> bool:
        return bool(self._settings.smtp_host and self._settings.smtp_from)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def send(self, to: str, subject: str, body: str, headers: Mapping[str, str] = NO_HEADERS) -> None:
        """For whoever waits for it: what is not taken is an error. One that may have arrived is none."""
        attempt = await self.attempt(to, subject, body, headers)
        if attempt.result is AttemptResult.REFUSED:
            raise InvalidInputError("The mail server does not take mail for this address.", field="email")
        if attempt.result is AttemptResult.TROUBLED:
            raise TransientError("No mail can be sent at the moment. Try again later.")

    async def attempt(self, to: str, subject: str, body: str, headers: Mapping[str, str] = NO_HEADERS) -> Attempt:
        """For the ledger: what one try came to."""
        if not self.configured:
            return Attempt(
                AttemptResult.TROUBLED,
                "No mail server is set. An administrator sets PRESSBOX_SOONISH_SMTP_HOST and _SMTP_FROM.",
            )
        try:
            message = self._message(to, subject, body, headers)
        except ValueError:
            # Its text quotes the address, which is somebody's.
            return Attempt(AttemptResult.REFUSED, "The address cannot be written into a mail.")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._deliver, to, message)

    def _message(self, to: str, subject: str, body: str, headers: Mapping[str, str]) -> EmailMessage:
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
            with self._connected() as server:
                return _handed_over(server, parseaddr(self._settings.smtp_from or "")[1], to, message)
        except smtplib.SMTPResponseException as error:
            # Greeting, TLS or signing in: our own settings or the server's day, never the person's address.
            log.warning("mail_server_refused", msg="The mail server does not take our mail", code=error.smtp_code)
            return Attempt(AttemptResult.TROUBLED, f"The mail server of this instance answered {error.smtp_code}.")
        except (OSError, smtplib.SMTPException) as error:
            log.warning("mail_server_away", msg="The mail server cannot be used", kind=type(error).__name__)
            return Attempt(AttemptResult.TROUBLED, f"No connection to the mail server ({type(error).__name__}).")

    def _connected(self) -> smtplib.SMTP:
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


def _handed_over(server: smtplib.SMTP, sender: str, to: str, message: EmailMessage) -> Attempt:
    """Step by step, because it matters how far we came."""
    options = [] if to.isascii() else ["SMTPUTF8", "BODY=8BITMIME"]
    if options and not server.has_extn("smtputf8"):
        return Attempt(AttemptResult.REFUSED, "The mail server cannot write to such an address.")
    code, _ = server.mail(sender, options)
    if code != 250:
        return Attempt(AttemptResult.TROUBLED, f"The mail server does not take mail from us ({code}).")
    code, _ = server.rcpt(to)
    if code not in (250, 251):
        return _refused(code)
    try:
        code, _ = server.data(message.as_bytes(policy=SMTPUTF8 if options else SMTP))
    except smtplib.SMTPDataError as error:
        return _refused(error.smtp_code)
    except (OSError, smtplib.SMTPServerDisconnected) as error:
        return Attempt(AttemptResult.SILENT, f"The mail was handed over, but not confirmed ({type(error).__name__}).")
    return Attempt(AttemptResult.ACCEPTED) if code == 250 else _refused(code)


def _refused(code: int) -> Attempt:
    """By the first digit: 4 is for now, 5 for good."""
    result = AttemptResult.REFUSED if code >= 500 else AttemptResult.TROUBLED
    return Attempt(result, f"The mail server answered {code}.")
