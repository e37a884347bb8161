"""Every recorded history replays on today's code: a change that would break a running workflow fails here.

`make record` writes the histories. One is removed only together with its workflow type.
"""

from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from pressbox.demo.manifest import APP as DEMO
from pressbox.entry.manifests import APPLICATIONS

HISTORIES = Path(__file__).parent / "histories"
WORKFLOWS = [
    workflow for manifest in (*APPLICATIONS, DEMO) for group in manifest.workflows().values() for workflow in group
]
RECORDED = sorted(HISTORIES.glob("*/*.json"))


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: f"{file.parent.name}/{file.stem}")
async def test_recorded_history_replays(file: Path) -> None:
    history = WorkflowHistory.from_json(f"recorded-{file.stem}", file.read_text())
    await Replayer(workflows=WORKFLOWS, data_converter=pydantic_data_converter).replay_workflow(history)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.__name__)
def test_every_workflow_type_has_a_recorded_history(workflow: type) -> None:
    assert list((HISTORIES / workflow.__name__).glob("*.json")), "run `make record` and commit what it writes"
