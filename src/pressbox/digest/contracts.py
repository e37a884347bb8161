"""What crosses Temporal for digests."""

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress

QUEUE = "digest"
WORKFLOW = "DigestWorkflow"
SCHEDULE_ID = "digest"
WORKFLOW_ID = "digest"
# The run that a worker starts as soon as one is due.
DUE_WORKFLOW_ID = "digest-due"


class DigestWorkflowInput(Contract):
    """How many digests one activity writes."""

    page_size: int = 20


class DigestPageInput(Contract):
    limit: int


class DigestPage(Contract):
    """What became of one page: `claimed` is 0 when nothing is due any more.

    `empty` had nothing to say, `late` were due too long ago, and `failed` are tried again in some minutes.
    """

    claimed: int = 0
    sent: int = 0
    empty: int = 0
    late: int = 0
    failed: int = 0
    reason: str = ""


class DigestProgress(Progress):
    sent: int = 0
    failed: int = 0


class DigestWorkflowResult(Contract):
    sent: int
    failed: int
