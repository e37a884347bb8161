"""Settings of soonish: PRESSBOX_SOONISH_…"""

from enum import StrEnum

from pydantic import Field, SecretStr

from pressbox.core.config import CommaSeparated, Group, Port


class SmtpSecurity(StrEnum):
    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


class SoonishSettings(Group):
    """Events, announcements and reminders."""

    merge_window_seconds: float = Field(60.0, ge=0, le=3600, description="Edits within this time are one message.")
    batch_size: int = Field(500, ge=1, le=5000, description="Recipients that one activity takes at a time.")
    concurrent_deliveries: int = Field(64, ge=1, le=512, description="Messages on their way at the same time.")
    deliveries_per_host_per_second: float = Field(
        500.0, gt=0, description="Most messages per second to one host. Retry-After is always obeyed."
    )
    smtp_host: str | None = Field(None, description="Mail server for people without an account; without it, no e-mail.")
    smtp_port: Port = Field(587, description="Port of the mail server.")
    smtp_user: str | None = Field(None, description="User name at the mail server.")
    smtp_password: SecretStr | None = Field(None, description="Password at the mail server.")
    smtp_from: str | None = Field(None, description="Sender address of our mail, as Events <events@example.org>.")
    smtp_security: SmtpSecurity = Field(
        SmtpSecurity.STARTTLS, description="starttls, tls from the first byte, or none on a trusted network."
    )
    apprise_api_url: str | None = Field(None, description="An Apprise API server that sends instead of this process.")
    allow_local_schemes: CommaSeparated = Field(
        (), description="Apprise schemes that act on this machine itself and are allowed all the same, such as dbus."
    )
    old_secret_keys: SecretStr | None = Field(
        None, description="Earlier instance keys, comma-separated, until `pressbox soonish rotate-key` has run."
    )
