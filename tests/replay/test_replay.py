"""Every recorded history replays on today's code: a change that would break a running workflow fails here.

`make record` writes histories of new cases. One that was recorded stays as it is, since runs like it may be open
somewhere: `checksums.txt` says what each was. One is removed, with its line, only together with its workflow type.
"""

from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from pressbox.demo.manifest import APP as DEMO
from pressbox.entry.manifests import APPLICATIONS
from tests.replay.keeping import CHECKSUMS, HISTORIES, checksum, name_of, read_checksums

WORKFLOWS = [
    workflow for manifest in (*APPLICATIONS, DEMO) for group in manifest.workflows().values() for workflow in group
]
RECORDED = sorted(HISTORIES.glob("*/*.json"))
KEPT = read_checksums()


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: f"{file.parent.name}/{file.stem}")
async def test_recorded_history_replays(file: Path) -> None:
    history = WorkflowHistory.from_json(f"recorded-{file.stem}", file.read_text())
    await Replayer(workflows=WORKFLOWS, data_converter=pydantic_data_converter).replay_workflow(history)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.__name__)
def test_every_workflow_type_has_a_recorded_history(workflow: type) -> None:
    assert list((HISTORIES / workflow.__name__).glob("*.json")), "run `make record` and commit what it writes"


@pytest.mark.parametrize("name", KEPT)
def test_a_recorded_history_is_never_recorded_again(name: str) -> None:
    file = HISTORIES / name
    assert file.exists(), f"{name} is gone: restore it, or remove its workflow type and its line in {CHECKSUMS.name}"
    assert checksum(file) == KEPT[name], f"{name} was changed: restore it, and record the new branch under a new name"


def test_every_history_is_kept() -> None:
    missing = [name_of(file) for file in RECORDED if name_of(file) not in KEPT]
    assert missing == [], "run `python -m tests.replay.keeping`, which adds their checksums"
