"""A client of Temporal that notes what is started and runs nothing."""

from dataclasses import dataclass, field
from typing import Any, cast

from temporalio.client import Client

from pressbox.core.contracts import Contract


@dataclass(frozen=True)
class Start:
    workflow: str
    input: Any
    id: str


@dataclass(frozen=True)
class Handle:
    id: str
    outcome: object = None

    async def result(self) -> object:
        return self.outcome


@dataclass
class RecordedTemporal:
    """`starts` are the workflows in their order; `away` as when Temporal is down. `results` are by workflow name."""

    starts: list[Start] = field(default_factory=list)
    results: dict[str, object] = field(default_factory=dict)
    away: bool = False
    # For what is not about starting.
    real: Client | None = None

    @property
    def ids(self) -> list[str]:
        return [start.id for start in self.starts]

    @property
    def client(self) -> Client:
        return cast(Client, self)

    async def start_workflow(self, workflow: str, input: Contract, *, id: str, **_: object) -> Handle:
        if self.away:
            # As the client says it when it cannot dial.
            raise RuntimeError("Connection refused")
        self.starts.append(Start(workflow, input, id))
        return Handle(id, self.results.get(workflow))

    def get_workflow_handle(self, id: str, **options: Any) -> Any:
        if self.real is not None:
            return self.real.get_workflow_handle(id, **options)
        workflow = next(start.workflow for start in self.starts if start.id == id)
        return Handle(id, self.results.get(workflow))

    def __getattr__(self, name: str) -> Any:
        if self.real is None:
            raise AttributeError(name)
        return getattr(self.real, name)
