"""The mail server, as an administrator sets and tries it on a page."""

from collections.abc import Mapping
from email.utils import parseaddr

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.core.stored_settings.sections import SettingField, SettingsSection, TestReport
from pressbox.delivery.adapters.mail_connection import MailServer
from pressbox.delivery.adapters.mail_pool import MailPool
from pressbox.delivery.adapters.mailer import SmtpMailer
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.soonish.settings import SoonishSettings

HOST, PORT, SECURITY = "soonish.smtp_host", "soonish.smtp_port", "soonish.smtp_security"
USER, PASSWORD, SENDER = "soonish.smtp_user", "soonish.smtp_password", "soonish.smtp_from"
SUBJECT = "Pressbox can send mail"
BODY = "This is a test from the settings of Pressbox. Your mail server works; there is nothing to do."


def check_mail(settings: Settings) -> Mapping[str, str]:
    mail, problems = settings.group(SoonishSettings), {}
    if mail.smtp_host and any(character in mail.smtp_host for character in "/:@ "):
        problems[HOST] = "Only the name of the server, such as mail.example.org."
    if mail.smtp_from and "@" not in parseaddr(mail.smtp_from)[1]:
        problems[SENDER] = "An e-mail address, such as Events <events@example.org>."
    if mail.smtp_host and not mail.smtp_from:
        problems[SENDER] = "Mail needs a sender."
    return problems


async def send_test_mail(resources: Resources, email: str) -> TestReport:
    settings = resources.settings.group(SoonishSettings)
    # A connection of its own: what is tried are these settings, not a connection from before they were changed.
    mailer = SmtpMailer(settings, MailPool(MailServer.from_settings(settings), connections=1))
    try:
        if not mailer.is_configured:
            raise InvalidInputError("There is no mail server to try. Enter server and sender first.", field="smtp_host")
        attempt = await mailer.attempt(email, SUBJECT, BODY)
    finally:
        await mailer.close()
    if attempt.result is not AttemptResult.ACCEPTED:
        raise TransientError(attempt.reason or "The mail server did not confirm the mail.")
    return TestReport("A mail is on its way to %(email)s. Look whether it arrives.", {"email": email})


MAIL = SettingsSection(
    key="mail",
    title="Mail",
    summary="The server that sends reminders to guests, invitations and new passwords.",
    fields=(
        SettingField(HOST, "Server", hint="Such as mail.example.org."),
        SettingField(PORT, "Port", hint="587 for STARTTLS, 465 for TLS.", kind="number"),
        SettingField(
            SECURITY,
            "Encryption",
            kind="select",
            choices={"starttls": "STARTTLS", "tls": "TLS from the first byte", "none": "none, on a trusted network"},
        ),
        SettingField(USER, "User name"),
        SettingField(PASSWORD, "Password", kind="password", sent_to=(HOST, PORT, SECURITY)),
        SettingField(SENDER, "Sender", hint="Such as Events <events@example.org>."),
    ),
    test=send_test_mail,
    required=(HOST, SENDER),
    check=check_mail,
)
