"""What subscribers and organisers wait for."""

from pressbox.core.measures import Measure

MEASURES = (
    Measure(
        "pressbox_delivery_lag_seconds",
        "Age of the oldest message to a person that is not sent yet and is not put off.",
        "SELECT '', extract(epoch FROM now() - min(greatest(created_at, next_try_at))) FROM soonish.deliveries "
        "WHERE state = 'pending' AND (next_try_at IS NULL OR next_try_at <= now())",
    ),
    Measure(
        "pressbox_deliveries_waiting",
        "Messages to people that are not sent yet.",
        "SELECT '', count(*) FROM soonish.deliveries WHERE state = 'pending'",
    ),
    Measure(
        "pressbox_outbox_oldest_seconds",
        "Age of the oldest change of an event that its workflow was not told yet.",
        "SELECT '', extract(epoch FROM now() - min(created_at)) FROM soonish.outbox WHERE told_at IS NULL",
    ),
)
