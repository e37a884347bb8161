"""Old payloads stay readable, and what crosses Temporal cannot be changed on the way."""

import pytest
from pydantic import ValidationError

from pressbox.core.errors import MESSAGE_LIMIT, NotFoundError, PressboxError
from pressbox.core.progress.contracts import title_of
from pressbox.core.temporal.faults import Action, Fault, Moment, every_fault
from pressbox.maintenance.contracts import MaintenanceWorkflowInput

OLDEST_MAINTENANCE_INPUT = (
    '{"policy":{"keep_changes":"PT1H","keep_progress":"P7D","keep_scratch":"PT24H"},"from_the_future":1}'
)


def test_the_oldest_maintenance_input_decodes() -> None:
    decoded = MaintenanceWorkflowInput.model_validate_json(OLDEST_MAINTENANCE_INPUT)
    assert decoded.policy.keep_progress.days == 7


def test_contracts_are_frozen() -> None:
    decoded = MaintenanceWorkflowInput.model_validate_json(OLDEST_MAINTENANCE_INPUT)
    with pytest.raises(ValidationError):
        decoded.policy = decoded.policy  # type: ignore[misc]


def test_error_messages_have_an_end() -> None:
    assert len(NotFoundError("x" * 10_000).message) == MESSAGE_LIMIT


def test_every_error_has_a_status_and_a_code() -> None:
    def tree(kind: type[PressboxError]) -> list[type[PressboxError]]:
        return [kind, *(found for child in kind.__subclasses__() for found in tree(child))]

    for kind in tree(PressboxError):
        assert 400 <= kind.status < 600
        assert kind.code.islower()


@pytest.mark.parametrize(
    ("workflow_type", "title"),
    [("SearchPruneWorkflow", "Search prune"), ("RAGWorkflow", "RAG"), ("DomainFetchWorkflow", "Domain fetch")],
)
def test_a_workflow_without_a_title_is_named_by_its_type(workflow_type: str, title: str) -> None:
    assert title_of(workflow_type).lower() == title.lower()


def test_faults_cover_before_and_after_every_activity() -> None:
    faults = every_fault(["b", "a"], Action.KILL)
    assert [fault.filename for fault in faults] == ["a.before.kill", "a.after.kill", "b.before.kill", "b.after.kill"]
    assert Fault.parse("a.after.kill") == Fault("a", Moment.AFTER, Action.KILL)
