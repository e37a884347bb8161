"""Settings of what sends. They are called PRESSBOX_SOONISH_…, as they were when events alone sent messages."""

from enum import StrEnum
from pathlib import Path

from pydantic import Field, SecretStr

from pressbox.core.config import CommaSeparated, Group, Port


class SmtpSecurity(StrEnum):
    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


class DeliverySettings(Group):
    """Mail, chat and push. The group of events extends it: `settings.group(DeliverySettings)` finds that one."""

    concurrent_deliveries: int = Field(64, ge=1, le=512, description="Messages on their way at the same time.")
    deliveries_per_host_per_second: float = Field(
        500.0, gt=0, description="Most messages per second to one host, of all processes. Retry-After is always obeyed."
    )
    smtp_host: str | None = Field(None, description="Mail server for people without an account; without it, no e-mail.")
    smtp_port: Port = Field(587, description="Port of the mail server.")
    smtp_user: str | None = Field(None, description="User name at the mail server.")
    smtp_password: SecretStr | None = Field(None, description="Password at the mail server.")
    smtp_from: str | None = Field(None, description="Sender address of our mail, as Events <events@example.org>.")
    smtp_security: SmtpSecurity = Field(
        SmtpSecurity.STARTTLS, description="starttls, tls from the first byte, or none on a trusted network."
    )
    smtp_ca_file: Path | None = Field(None, description="PEM file of a private authority that signed the mail server.")
    smtp_connections: int = Field(
        4, ge=1, le=50, description="Connections to the mail server that each process keeps at most."
    )
    mails_per_minute: float = Field(
        600.0, gt=0, description="Most messages by mail per minute, of all processes; see what your provider allows."
    )
    apprise_api_url: str | None = Field(None, description="An Apprise API server that sends instead of this process.")
    allow_local_schemes: CommaSeparated = Field(
        (), description="Apprise schemes that act on this machine itself and that administrators may use, such as dbus."
    )
    old_secret_keys: SecretStr | None = Field(
        None, description="The same as PRESSBOX_OLD_SECRET_KEYS, for events only."
    )
