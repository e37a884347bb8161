"""Mail about accounts, in the language of whoever gets it; sent after the answer, so that it never tells by time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.background import BackgroundTask

from pressbox.core.accounts.models import User
from pressbox.core.app import AppManifest, Mailer
from pressbox.core.config import Settings
from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.web.folders import CORE_PACKAGE
from pressbox.core.web.languages import DEFAULT_LANGUAGE, choose_language, translations

log = get_logger(__name__)


@dataclass(frozen=True)
class MailText:
    subject: str
    body: str


RESET = MailText(
    "A new password for Pressbox",
    "Somebody, most likely you, asked for a new password for your account at Pressbox.\n\n"
    "Choose it here within an hour:\n%(link)s\n\n"
    "If it was not you, do nothing: your password stays as it is.",
)
INVITATION = MailText(
    "You are invited to Pressbox",
    "There is an account for you at Pressbox: %(email)s.\n\nChoose your password here within seven days:\n%(link)s",
)
CONFIRM_EMAIL = MailText(
    "Confirm your address for Pressbox",
    "This address is to become the one of your account at Pressbox.\n\nConfirm it here within a day:\n%(link)s\n\n"
    "If you do not know what this is about, do nothing.",
)
EMAIL_CHANGES = MailText(
    "The address of your Pressbox account is about to change",
    "Somebody who is signed in to your account at Pressbox wants to replace this address by another one.\n\n"
    "If it was you, there is nothing to do here: we have sent a link to the new address.\n"
    "If it was not you, change your password now; that ends everything:\n%(link)s",
)
PASSWORD_CHANGED = MailText(
    "Your Pressbox password was changed",
    "The password of your account at Pressbox was changed just now, and what the old one opened has ended.\n\n"
    "If it was not you, ask for a new one here, and tell an administrator:\n%(link)s",
)
NEW_DEVICE = MailText(
    "A new device signed in to your Pressbox account",
    "Somebody signed in to your account at Pressbox from a browser that was not known before.\n\n"
    "Browser: %(browser)s\nAddress: %(address)s\n\n"
    "If it was you, there is nothing to do. If not, change your password now; that ends all sessions:\n%(link)s",
)
TEXTS = (RESET, INVITATION, CONFIRM_EMAIL, EMAIL_CHANGES, PASSWORD_CHANGED, NEW_DEVICE)


def find_mailer(settings: Settings, manifests: tuple[AppManifest, ...]) -> Mailer | None:
    """The first way in which an application sends mail; None when nobody has set one up."""
    offered = (manifest.mailer(settings) for manifest in manifests if manifest.mailer is not None)
    return next((mailer for mailer in offered if mailer is not None), None)


def mailer_of(request: Request) -> Mailer | None:
    mailer: Mailer | None = request.app.state.mailer
    return mailer


def own_url(request: Request, path: str) -> str:
    """An address of ours for a mail. The host of the request was checked to be ours."""
    settings: Settings = request.app.state.settings
    return f"{(settings.web.public_url or str(request.base_url)).rstrip('/')}{path}"


async def send_mail(request: Request, user: User, text: MailText, to: str | None = None, **values: str) -> bool:
    """Send it, unless there is no mail server; a failure is logged and never breaks what it was about."""
    mailer = mailer_of(request)
    if mailer is None:
        return False
    subject, body = translate(text, user.language or _language(request), values)
    try:
        await mailer.send(to or user.email, subject, body, {})
    except PressboxError as error:
        log.warning("account_mail_failed", msg="A mail about an account was not accepted", reason=error.code)
        return False
    return True


def mail_task(request: Request, user: User, text: MailText, to: str | None = None, **values: str) -> BackgroundTask:
    """The same as something to do after the answer."""
    return BackgroundTask(send_mail, request, user, text, to, **values)


def translate(text: MailText, language: str, values: Mapping[str, Any]) -> tuple[str, str]:
    catalogue = translations(language, (CORE_PACKAGE,))
    return catalogue.gettext(text.subject), catalogue.gettext(text.body) % values


def _language(request: Request) -> str:
    return choose_language(None, request.headers.get("accept-language", "")) or DEFAULT_LANGUAGE
