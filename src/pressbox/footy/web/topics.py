"""Live topics of matches. A change never says what changed: pages ask again for their part."""

from pressbox.core.app import LiveTopic, load_nothing
from pressbox.core.audiences.contracts import EVERYONE
from pressbox.footy.ids import DAY_TOPIC, FIXTURE_TOPIC, GOAL_TOPIC

TOPICS = tuple(LiveTopic(kind, load_nothing, EVERYONE) for kind in (DAY_TOPIC, FIXTURE_TOPIC, GOAL_TOPIC))
