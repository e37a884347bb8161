"""What crosses Temporal for matchday: names, inputs, results and progress."""

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress

QUEUE = "matchday"
WORKFLOW = "MatchdayWorkflow"
# Started when fixtures or follows changed, and by the schedule for all of them.
CHANGED_ID = "matchday-changed"
SWEEP_ID = "matchday-sweep"
SWEEP_SCHEDULE = "matchday-sweep"


class MatchdayWorkflowInput(Contract):
    """Only what changed, or `everything`."""

    everything: bool = False


class KeepInput(Contract):
    """All fixtures after this id, a page of them at a time."""

    after: int = 0


class KeptFixtures(Contract):
    """What one page did. `failed` counts those that could not be kept; the others go on.

    `next_after` asks for another page. `lost`: nobody knows any more what changed, so everything has to be looked at.
    """

    kept: int = 0
    failed: int = 0
    next_after: int | None = None
    more: bool = False
    lost: bool = False


class MatchdayProgress(Progress):
    kept: int = 0
    failed: int = 0


class MatchdayWorkflowResult(Contract):
    kept: int = 0
    failed: int = 0
