"""Settings of soonish: PRESSBOX_SOONISH_…"""

from pydantic import Field

from pressbox.delivery.settings import DeliverySettings


class SoonishSettings(DeliverySettings):
    """Events, announcements and reminders."""

    merge_window_seconds: float = Field(60.0, ge=0, le=3600, description="Edits within this time are one message.")
    batch_size: int = Field(500, ge=1, le=5000, description="Recipients that one activity takes at a time.")
    most_own_reminders: int = Field(
        200,
        ge=0,
        description="An event with more reminders than this has one schedule for all who chose one time.",
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
