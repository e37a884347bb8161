"""What crosses Temporal for delivery."""

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress


class SendNoticesInput(Contract):
    """`at_once` are messages on their way at the same time, of one page; `sent` those of earlier runs."""

    at_once: int = 64
    shards: int = 8
    page: int = 500
    sent: int = 0


class SendPageInput(Contract):
    at_once: int
    page: int


class SendPageResult(Contract):
    """`waiting` are those that are due now and that nobody holds."""

    sent: int
    waiting: int


class SendNoticesProgress(Progress):
    """How many notices left."""

    sent: int = 0


class SendNoticesResult(Contract):
    sent: int
