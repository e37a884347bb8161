"""Counts what work costs: statements that leave this process, and events of all histories that it made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import event
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from pressbox.core.db.database import Database

# What a cloud bills: each of these is one action, and a retry of an activity another one.
_ACTIONS = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
    EventType.EVENT_TYPE_TIMER_STARTED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
    EventType.EVENT_TYPE_MARKER_RECORDED,
    EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
}


@dataclass
class Statements:
    number: int = 0


@contextmanager
def count_statements(database: Database) -> Iterator[Statements]:
    """Count what is sent; a statement for many rows that the driver sends once for each counts as many."""
    counted = Statements()

    def note(_: object, __: object, ___: str, parameters: object, ____: object, executemany: bool) -> None:
        counted.number += len(parameters) if executemany and isinstance(parameters, list | tuple) else 1

    engine = database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield counted
    finally:
        event.remove(engine, "before_cursor_execute", note)


@dataclass(frozen=True)
class Histories:
    workflows: int = 0
    events: int = 0
    actions: int = 0


async def count_histories(temporal: Client, *, wanted: Callable[[str], bool] = lambda _: True) -> Histories:
    """Add up the histories of all runs whose workflow's id is wanted."""
    workflows = events = actions = 0
    async for run in temporal.list_workflows():
        if not wanted(run.id):
            continue
        history = await temporal.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
        workflows += 1
        events += len(history.events)
        actions += sum(one.event_type in _ACTIONS for one in history.events)
        actions += sum(
            max(one.activity_task_started_event_attributes.attempt - 1, 0)
            for one in history.events
            if one.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED
        )
    return Histories(workflows, events, actions)
