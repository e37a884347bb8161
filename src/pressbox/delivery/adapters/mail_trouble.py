"""Why the mail server of this instance cannot be used, in words that say what to do."""

import smtplib
import socket
import ssl
from datetime import timedelta

from pressbox.delivery.settings import SmtpSecurity

# For this long nobody else tries a server that is busy or away.
BUSY_PAUSE = timedelta(seconds=30)
# Somebody has to change something first, and more wrong passwords would lock the account.
REFUSED_PAUSE = timedelta(minutes=5)

_WHERE = "The mail server of this instance"
# Codes of OpenSSL.
_EXPIRED = frozenset({9, 10})
_OTHER_NAME = frozenset({62, 64})


class MailServerError(Exception):
    """`reason` contains no secrets; for `pause` nobody needs to try again."""

    def __init__(self, reason: str, pause: timedelta = BUSY_PAUSE) -> None:
        super().__init__(reason)
        self.reason = reason
        self.pause = pause


def explain_connection(error: Exception, security: SmtpSecurity) -> MailServerError:
    match error:
        case ssl.SSLCertVerificationError():
            return MailServerError(f"{_WHERE} {_explain_certificate(error.verify_code)}", REFUSED_PAUSE)
        case ssl.SSLError():
            advice = "does not speak TLS at this port. Choose STARTTLS, or the port for TLS, usually 465."
            return MailServerError(f"{_WHERE} {advice}", REFUSED_PAUSE)
        case smtplib.SMTPNotSupportedError():
            advice = "offers no STARTTLS at this port, so nothing was sent. Use the port for it, usually 587, or TLS."
            return MailServerError(f"{_WHERE} {advice}", REFUSED_PAUSE)
        case smtplib.SMTPResponseException():
            return MailServerError(f"{_WHERE} answered {error.smtp_code}.")
        case socket.gaierror():
            return MailServerError(f"{_WHERE} could not be reached: its name is not known. Check the name.")
        case ConnectionRefusedError():
            return MailServerError(f"{_WHERE} could not be reached: nothing answers at this port. Check the port.")
        case TimeoutError() | smtplib.SMTPServerDisconnected() if security is not SmtpSecurity.TLS:
            advice = "did not answer. If its port is 465, choose TLS from the first byte."
            return MailServerError(f"{_WHERE} {advice}")
        case _:
            return MailServerError(f"{_WHERE} could not be reached.")


def explain_sign_in(error: Exception) -> MailServerError:
    match error:
        case smtplib.SMTPNotSupportedError():
            advice = "offers no sign-in that can be used here. Use the port for sending, usually 587, or no user."
            return MailServerError(f"{_WHERE} {advice}", REFUSED_PAUSE)
        case smtplib.SMTPResponseException() if error.smtp_code < 500:
            return MailServerError(f"{_WHERE} cannot sign us in at the moment ({error.smtp_code}).")
        case smtplib.SMTPResponseException():
            advice = f"does not accept user name and password ({error.smtp_code}). Enter them again; "
            return MailServerError(
                f"{_WHERE} {advice}many providers want an app password instead of your own.", REFUSED_PAUSE
            )
        case _:
            return MailServerError(f"{_WHERE} ended the connection while signing in.")


def _explain_certificate(code: int) -> str:
    if code in _EXPIRED:
        return "has a certificate that is not valid today. Whoever runs it must renew it; check the clock here too."
    if code in _OTHER_NAME:
        return "has a certificate for another name. Enter the name of the server as its certificate has it."
    return (
        "has a certificate that nobody known here has signed. Enter the name of the server that its provider gives, or "
        "let an administrator set PRESSBOX_SOONISH_SMTP_CA_FILE to the certificate of its authority."
    )
