"""How often the activities of soonish heartbeat, and how long they may be silent."""

from datetime import timedelta

from pressbox.core.temporal.heartbeat import Heartbeat

# Short: a cancellation travels on the answer to a heartbeat, and the SDK holds heartbeats back for most of this time.
HEARTBEAT_TIMEOUT = timedelta(seconds=10)
_SECONDS_BETWEEN = 2


def heartbeat() -> Heartbeat:
    """Nothing can be resumed: the ledger knows what was sent, and the database which schedules exist."""
    return Heartbeat(every_seconds=_SECONDS_BETWEEN)
