"""`pressbox trigger extract-context` and `collect-context`: what they start, and what they say."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from typer.testing import CliRunner

from pressbox.curator.cards import wiring
from pressbox.curator.cards.commands import trigger


class Enriching:
    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    async def extract(self, entry_ids: Sequence[int], *, again: bool) -> Sequence[str]:
        self.calls.append(("extract", tuple(entry_ids), again))
        return [f"context-{entry_id}" for entry_id in entry_ids]

    async def collect(self, entry_ids: Sequence[int], *, again: bool) -> str:
        self.calls.append(("collect", tuple(entry_ids), again))
        return "collect-context-1"


@asynccontextmanager
async def opened() -> AsyncIterator[Any]:
    yield None


@pytest.mark.parametrize(
    ("arguments", "call", "said"),
    [
        (["extract-context", "7", "8"], ("extract", (7, 8), False), "Started: context-7\nStarted: context-8\n"),
        (["extract-context", "7", "--again"], ("extract", (7,), True), "Started: context-7\n"),
        (["collect-context", "7", "8"], ("collect", (7, 8), False), "Started: collect-context-1\n"),
    ],
)
def test_commands_start_the_work_on_the_entries_that_are_named(
    arguments: list[str], call: tuple[object, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    enriching = Enriching()
    monkeypatch.setattr(wiring, "card_service", lambda _: enriching)
    result = CliRunner().invoke(trigger, arguments, obj=opened)
    assert (result.exit_code, result.output, enriching.calls) == (0, said, [call])


def test_programs_get_json_and_no_entry_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "card_service", lambda _: Enriching())
    result = CliRunner().invoke(trigger, ["collect-context", "7", "--json"], obj=opened)
    assert json.loads(result.output) == {"workflow_id": "collect-context-1"}
    assert CliRunner().invoke(trigger, ["collect-context"], obj=opened).exit_code == 2
