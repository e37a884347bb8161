"""Live topics of matches. A change never says what changed: pages ask again for their part."""

from pressbox.core.app import LiveTopic, load_nothing
from pressbox.core.audiences.contracts import EVERYONE
from pressbox.footy.adapters.audiences import WATCHERS
from pressbox.footy.ids import DAY_TOPIC, FIXTURE_TOPIC, GOAL_TOPIC

TOPICS = (
    LiveTopic(DAY_TOPIC, load_nothing, EVERYONE),
    LiveTopic(FIXTURE_TOPIC, load_nothing, EVERYONE),
    # The key of a goal tells who scored, so it is said only to a page that names it.
    LiveTopic(GOAL_TOPIC, load_nothing, EVERYONE, by_name=True),
)
AUDIENCES = (WATCHERS,)
