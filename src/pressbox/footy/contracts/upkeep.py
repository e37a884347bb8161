"""Payloads of UpkeepWorkflow: canary searches, and clips that wait for a judge."""

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.footy.contracts.search import SourceFailure
from pressbox.footy.domain.policy import FootyPolicy


class UpkeepWorkflowInput(Contract):
    policy: FootyPolicy = FootyPolicy()


class UpkeepProgress(Progress):
    sources_failing: int = 0
    rechecked: int = 0


class CanaryResult(Contract):
    working: int = 0
    failing: tuple[SourceFailure, ...] = ()


class RecheckResult(Contract):
    """How many clips were judged, and how many still wait because the judge does not answer."""

    judged: int = 0
    waiting: int = 0
