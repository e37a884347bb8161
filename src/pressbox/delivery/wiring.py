"""Builds what sends from the settings of the process."""

from pressbox.core.config import Settings
from pressbox.core.logs import redact
from pressbox.delivery.adapters.address_vault import AddressVault
from pressbox.delivery.adapters.mailer import SmtpMailer
from pressbox.delivery.domain.links import WayLinks
from pressbox.delivery.ports import Mailer
from pressbox.delivery.settings import DeliverySettings


def mailer(settings: Settings) -> Mailer | None:
    """None when no mail server is configured."""
    found = SmtpMailer(settings.group(DeliverySettings))
    return found if found.is_configured else None


def vault(settings: Settings) -> AddressVault:
    return AddressVault(secret_keys(settings))


def secret_keys(settings: Settings) -> tuple[str, ...]:
    """The instance key first, then older ones."""
    older = settings.group(DeliverySettings).old_secret_keys
    old = older.get_secret_value() if older else ""
    keys = (*settings.secret_keys, *(key.strip() for key in old.split(",") if key.strip()))
    # Logs redact the setting as a whole; here each key in it is redacted too.
    redact.add(*keys)
    return keys


def way_links(settings: Settings) -> WayLinks:
    return WayLinks(public_url(settings), secret_keys(settings))


def public_url(settings: Settings) -> str:
    """Where people reach this instance, for links that leave it."""
    web = settings.web
    return web.public_url or f"http://{web.host}:{web.port}"
