"""Messages of research. Texts stay in the database: messages carry the run's id and the places of its steps."""

from pydantic import Field

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress, DeferrableResult
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.research.domain import EndedBy, ResearchState

DEEP_RESEARCH = "DeepResearchWorkflow"
RESEARCH_STOPPED = "stop_requested"
RESEARCH_RESUMED = "resume_requested"


def research_workflow_id(run_id: int) -> str:
    return f"research-{run_id}"


class DeepResearchInput(CamelContract):
    """The question and its bounds are with the run."""

    run_id: int
    evaluate: bool = False
    policy: CuratorPolicy = Field(default_factory=CuratorPolicy)
    parent_workflow_id: str = ""


class DeepResearchOutput(CamelContract):
    run_id: int
    state: ResearchState
    ended_by: EndedBy | None = None
    rounds: int = 0
    sources: int = 0
    tokens: int = 0


class DeepResearchProgress(CuratorProgress):
    round: int = 0
    rounds: int = 0
    sources_read: int = 0
    tokens_used: int = 0
    tokens_limit: int = 0


class ResearchBounds(Contract):
    """A run as its workflow finds it; `gone` when somebody deleted it."""

    gone: bool = False
    rounds: int = 0
    tokens_limit: int = 0
    minutes: float = 0.0
    tokens: int = 0
    seconds: float = 0.0


class ResearchStepInput(Contract):
    """`seconds` is how long the run has worked by now."""

    run_id: int
    round: int = 0
    position: int = 0
    seconds: float = 0.0
    ended_by: EndedBy | None = None
    policy: CuratorPolicy = Field(default_factory=CuratorPolicy)


class ResearchStepDone(DeferrableResult):
    """`tokens` are all of the run so far; `to_read` the places of the steps that a round still has to read."""

    tokens: int = 0
    to_read: tuple[int, ...] = ()
    ended_by: EndedBy | None = None
    sources: int = 0
    trace_id: str = ""


class CloseResearchInput(Contract):
    run_id: int
    state: ResearchState
    reason: str = ""
    seconds: float = 0.0
