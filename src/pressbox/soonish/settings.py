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
    guest_confirmations_per_target: int = Field(
        5, ge=1, description="Links to confirm that one mailbox or other target gets per day, whoever asks for them."
    )
    guest_confirmations_per_client: int = Field(
        100, ge=1, description="Subscriptions without an account that one network address asks for per day."
    )
    guest_confirmations_per_event: int = Field(
        1000, ge=1, description="Subscriptions without an account that are asked for per event and day."
    )
    guest_confirmations_per_host: int = Field(
        60, ge=1, description="Links to confirm that are sent per hour to one server that somebody named."
    )
    guest_subscriptions_per_target: int = Field(
        20, ge=1, description="Events that one address without an account follows at the same time."
    )
    guest_reminders_per_subscription: int = Field(
        5, ge=0, le=20, description="Reminders per event that somebody without an account chooses or asks for."
    )
    guest_reminders_per_target: int = Field(
        60, ge=0, description="Reminders that wait for one address without an account, over all events."
    )
    guest_changes_per_subscription: int = Field(
        50,
        ge=1,
        description="Changes per day through the private link of one subscription; leaving is always possible.",
    )
    old_secret_keys: SecretStr | None = Field(
        None, description="The same as PRESSBOX_OLD_SECRET_KEYS, for events only."
    )
