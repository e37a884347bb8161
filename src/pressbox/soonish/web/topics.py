"""Live topics of events. They only say that something changed: pages load it again with their own rights."""

from pressbox.core.app import LiveTopic, load_nothing
from pressbox.core.live.admission import audiences_by_id
from pressbox.soonish.adapters.audiences import AUDIENCES as AUDIENCES
from pressbox.soonish.adapters.audiences import find_organisers
from pressbox.soonish.domain.audiences import SENDER

EVENT = "soonish.event"
NOTIFICATION = "soonish.notification"

TOPICS = (
    LiveTopic(EVENT, load_nothing, find_organisers, by_name=True),
    LiveTopic(NOTIFICATION, load_nothing, audiences_by_id(SENDER), by_name=True),
)
