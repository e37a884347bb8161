"""What the curator's workflows take and show is camelCase, down to the last nested part; old names are still read."""

import re
from typing import get_type_hints

import pytest

from pressbox.curator.ingest.contracts import DomainFetchInput, EntryToFetch
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.manifest import APP

WORKFLOWS = sorted(
    {found for queue in APP.workflows().values() for found in queue}, key=lambda workflow: workflow.__name__
)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda found: found.__name__)
def test_inputs_and_progress_are_camel_case(workflow: type) -> None:
    hints = get_type_hints(workflow.__dict__["run"])
    shown = get_type_hints(workflow.__dict__["get_progress"])["return"]
    names = {
        str(name)
        for model in (hints["input"], shown)
        for schema in (model.model_json_schema(), *model.model_json_schema().get("$defs", {}).values())
        for name in schema.get("properties", ())
    }
    assert [name for name in names if re.search(r"[a-z0-9]_", name)] == []


def test_what_was_sent_under_the_old_names_is_still_read() -> None:
    entry = {"entry_id": 7, "domain": "example.org", "title": "Ferry"}
    old = {"domain": "example.org", "entries": [entry], "policy": {"distil_batch": 3}}
    read = DomainFetchInput.model_validate(old)
    assert (read.entries, read.policy) == (
        (EntryToFetch(entry_id=7, domain="example.org", title="Ferry"),),
        CuratorPolicy(distil_batch=3),
    )
    assert DomainFetchInput.model_validate_json(read.model_dump_json(by_alias=True)) == read
