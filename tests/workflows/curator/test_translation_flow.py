"""Translations, by hand and of what is left, on a real server."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.errors import PressboxError, RateLimitedError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy, EntryStatus
from pressbox.curator.translate import workflow as translation
from pressbox.curator.translate.contracts import Provider, TranslationInput
from pressbox.curator.translate.workflow import TranslationWorkflow
from tests.fakes.translating import TranslationDesk
from tests.waiting import progress_when_waiting

POLICY = CuratorPolicy(model_pause=timedelta(milliseconds=200))


class Room:
    def __init__(self, client: Client, desk: TranslationDesk) -> None:
        self.client, self.desk, self.queue = client, desk, f"test-{secrets.token_hex(4)}"

    async def start(self, **input: Any) -> WorkflowHandle[Any, Any]:
        return await self.client.start_workflow(
            TranslationWorkflow.__name__,
            TranslationInput(policy=POLICY, **({"provider": Provider.DEEPL} | input)),
            id=f"translate-{self.queue}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )

    async def run(self, **input: Any) -> Any:
        return await (await self.start(**input)).result()


@pytest.fixture
async def room(temporal: Client) -> AsyncIterator[Room]:
    room = Room(temporal, TranslationDesk())
    async with AsyncExitStack() as stack:
        for queue, functions, workflows in (
            (room.queue, room.desk.plain_activities(), [TranslationWorkflow]),
            (heavy_queue(room.queue), room.desk.heavy_activities(), []),
        ):
            worker = Worker(
                temporal,
                task_queue=queue,
                workflows=workflows,
                activities=functions,
                interceptors=[ErrorInterceptor()],
                workflow_failure_exception_types=[PressboxError],
            )
            await stack.enter_async_context(worker)
        yield room


async def test_auto_selection_of_entries_without_a_translation_really_finds_them(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translation, "PAGE", 2)
    translations = room.desk.translations
    waiting = [translations.enter() for _ in range(5)]
    translations.enter("<p>Schon deutsch.</p>", language="de")
    assert await room.run(target_language="de") == {"translated": 5, "failed": 0}
    # The newest first.
    assert [row.entry_id for row in translations.rows.values()] == waiting[::-1]
    assert all(row.complete for row in translations.rows.values())
    assert await room.run(target_language="de") == {"translated": 0, "failed": 0}
    edited = waiting[2]
    translations.edit(edited, "<p>One line.</p><p>A third line.</p>")
    assert await room.run(target_language="de") == {"translated": 1, "failed": 0}
    assert await room.run(target_language="fr", most_entries=3) == {"translated": 3, "failed": 0}


async def test_over_quota_it_waits_visibly_and_goes_on_where_it_was(room: Room) -> None:
    desk = room.desk
    entry_id = desk.translations.enter("<p>One.</p><p>Two.</p><p>Three.</p>")
    over = RateLimitedError("DeepL: the quota is used up.", retry_after=timedelta(seconds=0.5))
    # Until it has been seen to wait.
    desk.deepl.troubles = [None, *[over] * 1000]
    handle = await room.start(entry_ids=(entry_id,))
    shown = await progress_when_waiting(handle, TranslationWorkflow.get_progress)
    desk.deepl.troubles.clear()
    assert (shown.message, shown.provider) == ("DeepL: the quota is used up.", "deepl")
    assert (shown.total_entries, shown.entries_translated) == (1, 0)
    assert shown.entry_progress[str(entry_id)].status is EntryStatus.TRANSLATING
    # Without a target language that of the settings counts.
    assert len(desk.translations.rows[entry_id, "de"].blocks) == 2
    assert await handle.result() == {"translated": 1, "failed": 0}
    assert [len(request) for request in desk.deepl.asked] == [2, 2]
    ended = await handle.query(TranslationWorkflow.get_progress)
    assert (ended.status, ended.entry_progress[str(entry_id)].status) == ("completed", EntryStatus.COMPLETED)


async def test_a_text_that_changes_meanwhile_is_not_marked_as_translated(room: Room) -> None:
    translations = room.desk.translations
    entry_id = translations.enter()
    room.desk.deepl.before = lambda: translations.edit(entry_id, "<p>Edited meanwhile.</p>")
    assert await room.run(entry_ids=(entry_id,), target_language="de") == {"translated": 0, "failed": 0}
    assert not translations.rows[entry_id, "de"].complete
