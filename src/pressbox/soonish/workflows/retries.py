"""How patiently the workflows of soonish repeat a call whose attempts are used up."""

from datetime import timedelta

from pressbox.core.temporal.calls import Pauses

# Nobody may be forgotten because the database or Temporal was down.
PAUSES = Pauses(first=timedelta(seconds=5), longest=timedelta(minutes=5))
