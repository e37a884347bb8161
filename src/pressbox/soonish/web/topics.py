"""Live topics of events. They only say that something changed: pages load it again with their own rights."""

from pressbox.core.app import LiveTopic, load_nothing

EVENT = "soonish.event"
NOTIFICATION = "soonish.notification"

# Empty: everybody who is signed in may follow every topic, but not everybody may see every event.
TOPICS = tuple(LiveTopic(kind, load_nothing, by_name=True) for kind in (EVENT, NOTIFICATION))
