"""Sends plain-text mail through the mail server of this instance."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, make_msgid, parseaddr
from types import MappingProxyType

from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.delivery.adapters.mail_connection import Envelope, MailServer, not_now
from pressbox.delivery.adapters.mail_pool import MailPool, shared_pool
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.ports import Attempt
from pressbox.delivery.settings import DeliverySettings

# The address was validated when it was given; this keeps out what could become another header or command.
_ADDRESS = re.compile(r"[^\s<>@,;:\x00-\x1f]+@[^\s<>@,;:\x00-\x1f]+")
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


def unsubscribe_headers(unsubscribe_url: str) -> Mapping[str, str]:
    """One-click headers of RFC 8058: the mail program sends a POST; opening the link changes nothing."""
    return {"List-Unsubscribe": f"<{unsubscribe_url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


class SmtpMailer:
    """Mailers for the same server share the connections of this process, unless one brings a pool of its own."""

    def __init__(self, settings: DeliverySettings, pool: MailPool | None = None) -> None:
        self._settings = settings
        self._pool = pool or shared_pool(MailServer.from_settings(settings), settings.smtp_connections)

    @property
    def is_configured(self) -> bool:
        return bool(self._settings.smtp_host and self._settings.smtp_from)

    async def close(self) -> None:
        await self._pool.close()

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
            return not_now("No mail server is set. An administrator sets PRESSBOX_SOONISH_SMTP_HOST and _SMTP_FROM.")
        name, address = parseaddr(self._settings.smtp_from or "")
        try:
            sender = _parse(address, name)
        except ValueError:
            return not_now("The sender address of this instance cannot be used. An administrator changes it.")
        try:
            recipient = _parse(to)
            message = _build_message(sender, recipient, subject, body, headers)
        except ValueError:
            # The text of the error quotes the address, which is private.
            return Attempt(AttemptResult.REFUSED, "The address cannot be used in a mail.")
        is_international = not (recipient.addr_spec.isascii() and sender.addr_spec.isascii())
        content = message.as_bytes(policy=SMTPUTF8 if is_international else SMTP)
        return await self._pool.send(Envelope(sender.addr_spec, recipient.addr_spec, content, is_international))


def _build_message(
    sender: Address, recipient: Address, subject: str, body: str, headers: Mapping[str, str]
) -> EmailMessage:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = recipient
    # A line break would begin another header.
    message["Subject"] = " ".join(subject.split())
    message["Date"] = format_datetime(datetime.now(UTC))
    message["Message-ID"] = make_msgid(domain=sender.domain)
    message["Auto-Submitted"] = "auto-generated"
    for name, value in headers.items():
        message[name] = value
    message.set_content(body, cte="quoted-printable")
    return message


def _parse(address: str, name: str = "") -> Address:
    """Write a domain with other letters as the name system has it: then any mail server can take the address."""
    if _ADDRESS.fullmatch(address) is None:
        raise ValueError("not an address")
    user, _, domain = address.rpartition("@")
    if not domain.isascii():
        from email_validator import validate_email

        valid = validate_email(address, check_deliverability=False, test_environment=True)
        assert valid.ascii_domain is not None
        domain = valid.ascii_domain
    return Address(display_name=name, username=user, domain=domain)
