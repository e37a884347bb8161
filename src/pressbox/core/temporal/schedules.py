"""Declared schedules: compare what the applications want with what Temporal has, and apply the difference.

What a person changed stays: a pause always, a timetable that is no longer the one we applied, and a schedule that was
deleted with `remove`. What we declared once and no longer declare is deleted; schedules that are not ours are never
touched.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleDescription,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.app import AppManifest, Resources, ScheduleDeclaration
from pressbox.core.clock import utc_now
from pressbox.core.contracts import Contract
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.core.logs import get_logger
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.core.temporal.rows import ScheduleRow

log = get_logger(__name__)

# Instead of a timetable that we applied: a person chose the times, or deleted the schedule.
_BY_HAND = {"spec": "chosen by a person"}
_DELETED = {"deleted": True}
# A busy machine is late too, and clocks of two machines differ a little.
_LATE = timedelta(minutes=10)
_AHEAD = timedelta(minutes=1)


class ScheduleOutcome(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    WAITING = "waiting"
    DELETED = "deleted"


class ScheduleView(Contract):
    """A schedule as the status page and `pressbox schedules list` show it."""

    id: str
    summary: str
    timetable: str
    exists: bool
    paused: bool = False
    note: str = ""
    changed_by_user: bool = False
    last_run: datetime | None = None
    next_run: datetime | None = None
    # Why it does not run as it should, for people.
    problem: str = ""


class ScheduleNotBegunError(TransientError):
    """Temporal has a schedule, and has not looked at it yet."""


def declared_schedules(resources: Resources, manifests: Iterable[AppManifest]) -> tuple[ScheduleDeclaration, ...]:
    return tuple(item for manifest in manifests for item in manifest.schedules(resources.settings))


async def reconcile(resources: Resources, declarations: Sequence[ScheduleDeclaration]) -> Mapping[str, ScheduleOutcome]:
    """Make Temporal's schedules those that are declared. Safe to repeat, and to interrupt."""
    known = await load_rows(resources.database)
    with translate_rpc_errors():
        outcomes = await asyncio.gather(*(_apply(resources, item, known.get(item.id)) for item in declarations))
        result = {item.id: outcome for item, outcome in zip(declarations, outcomes, strict=True)}
        for schedule_id in sorted(set(known) - set(result)):
            await _delete(resources, schedule_id)
            result[schedule_id] = ScheduleOutcome.DELETED
    for schedule_id, outcome in result.items():
        if outcome is not ScheduleOutcome.UNCHANGED:
            log.info("schedule_reconciled", msg=f"Schedule {schedule_id} {outcome}", schedule_id=schedule_id)
    return result


async def list_schedules(resources: Resources, manifests: Iterable[AppManifest]) -> tuple[ScheduleView, ...]:
    declarations = declared_schedules(resources, manifests)
    known = await load_rows(resources.database)
    with translate_rpc_errors():
        views = await asyncio.gather(*(_view(resources.temporal, item, known.get(item.id)) for item in declarations))
    return tuple(views)


@dataclass(frozen=True)
class Times:
    """Times that a person chose: exactly one of `every` and `cron`; the zone is for cron."""

    every: timedelta | None = None
    cron: str | None = None
    timezone: str | None = None


async def view(resources: Resources, declaration: ScheduleDeclaration) -> ScheduleView:
    """One declared schedule as it is."""
    known = await load_rows(resources.database)
    with translate_rpc_errors():
        return await _view(resources.temporal, declaration, known.get(declaration.id))


async def set_times(
    resources: Resources, declaration: ScheduleDeclaration, times: Times | None, input: Contract | None = None
) -> None:
    """Give a schedule other times (None: the declared ones again), and perhaps another input, for good.

    One that was deleted is made anew; one that is paused stays so.
    """
    wanted = _schedule(declaration if input is None else replace(declaration, input=input))
    if times is not None:
        wanted.spec = _chosen_spec(times)

    def updated(current: ScheduleUpdateInput) -> ScheduleUpdate:
        wanted.state = current.description.schedule.state
        return ScheduleUpdate(wanted)

    with translate_rpc_errors():
        try:
            if await _describe(resources.temporal, declaration.id) is None:
                await resources.temporal.create_schedule(declaration.id, wanted)
            else:
                await resources.temporal.get_schedule_handle(declaration.id).update(updated)
        except RPCError as error:
            if error.status is RPCStatusCode.INVALID_ARGUMENT:
                raise InvalidInputError(f"Temporal does not understand these times: {error.message}") from error
            raise
        await _remember(resources, declaration, keep=None if times is None else _BY_HAND)
    log.info("schedule_changed", msg=f"Schedule {declaration.id} has other times", schedule_id=declaration.id)


async def remove(resources: Resources, declaration: ScheduleDeclaration) -> None:
    """Delete a declared schedule for good: only `set_times` makes it anew."""
    with translate_rpc_errors(missing=_unknown_text(declaration.id)):
        await resources.temporal.get_schedule_handle(declaration.id).delete()
    await _note(resources.database, declaration, _DELETED)
    log.info("schedule_deleted", msg=f"Schedule {declaration.id} was deleted", schedule_id=declaration.id)


async def pause(client: Client, schedule_id: str) -> None:
    with translate_rpc_errors(missing=_unknown_text(schedule_id)):
        await client.get_schedule_handle(schedule_id).pause(note="Paused in Pressbox")


async def resume(client: Client, schedule_id: str) -> None:
    with translate_rpc_errors(missing=_unknown_text(schedule_id)):
        await client.get_schedule_handle(schedule_id).unpause(note="Resumed in Pressbox")


async def run_now(client: Client, schedule_id: str) -> None:
    with translate_rpc_errors(missing=_unknown_text(schedule_id)):
        await client.get_schedule_handle(schedule_id).trigger(overlap=ScheduleOverlapPolicy.SKIP)


def timetable(declaration: ScheduleDeclaration) -> str:
    """The wanted times in words."""
    if declaration.cron:
        return f"cron {declaration.cron} UTC"
    assert declaration.every is not None
    return _interval(declaration.every)


def _interval(every: timedelta) -> str:
    seconds = int(every.total_seconds())
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds % size == 0:
            return f"every {unit}" if seconds == size else f"every {seconds // size} {unit}s"
    return f"every {seconds} seconds"


async def _apply(resources: Resources, declaration: ScheduleDeclaration, row: ScheduleRow | None) -> ScheduleOutcome:
    handle = resources.temporal.get_schedule_handle(declaration.id)
    try:
        description = await _describe(resources.temporal, declaration.id)
    except ScheduleNotBegunError as error:
        # No reason to keep everything else from starting.
        log.warning("schedule_not_begun", msg=error.message, schedule_id=declaration.id)
        return ScheduleOutcome.WAITING
    if description is None:
        if row is not None and row.applied_spec == _DELETED:
            return ScheduleOutcome.KEPT
        try:
            await resources.temporal.create_schedule(declaration.id, _schedule(declaration))
        except ScheduleAlreadyRunningError:
            # Another process was quicker with the same declaration.
            log.info("schedule_exists", msg=f"Schedule {declaration.id} was just created elsewhere")
        await _remember(resources, declaration)
        return ScheduleOutcome.CREATED
    if row is not None and row.declared == _fingerprint(declaration):
        changed = changed_by_user(description.schedule.spec, declaration, row)
        return ScheduleOutcome.KEPT if changed else ScheduleOutcome.UNCHANGED
    keep_times = row is not None and changed_by_user(description.schedule.spec, declaration, row)

    def updated(current: ScheduleUpdateInput) -> ScheduleUpdate:
        wanted = _schedule(declaration)
        wanted.state = current.description.schedule.state
        if keep_times:
            wanted.spec = current.description.schedule.spec
        return ScheduleUpdate(wanted)

    await handle.update(updated)
    await _remember(resources, declaration, keep=row.applied_spec if row is not None and keep_times else None)
    return ScheduleOutcome.KEPT if keep_times else ScheduleOutcome.UPDATED


def _schedule(declaration: ScheduleDeclaration) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(
            declaration.workflow,
            declaration.input,
            id=declaration.workflow_id,
            task_queue=declaration.task_queue,
            run_timeout=declaration.run_timeout,
        ),
        spec=ScheduleSpec(
            intervals=[ScheduleIntervalSpec(every=declaration.every)] if declaration.every else [],
            cron_expressions=[declaration.cron] if declaration.cron else [],
        ),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=declaration.catchup_window),
        state=ScheduleState(note=declaration.summary),
    )


def _chosen_spec(times: Times) -> ScheduleSpec:
    if times.every is not None:
        return ScheduleSpec(intervals=[ScheduleIntervalSpec(every=times.every)])
    # Temporal turns cron into calendars and keeps the comment: so the words of the person can be shown again.
    zone = times.timezone or "UTC"
    return ScheduleSpec(cron_expressions=[f"{times.cron} #{times.cron} {zone}"], time_zone_name=zone)


def _chosen_timetable(description: ScheduleDescription) -> str:
    spec = description.schedule.spec
    if len(spec.intervals) == 1 and not spec.calendars:
        return f"{_interval(spec.intervals[0].every)}, changed by you"
    words = spec.calendars[0].comment if len(spec.calendars) == 1 else None
    return f"cron {words}, changed by you" if words else "changed by you"


def _fingerprint(declaration: ScheduleDeclaration) -> dict[str, Any]:
    return {
        "workflow": declaration.workflow,
        "workflow_id": declaration.workflow_id,
        "task_queue": declaration.task_queue,
        "input": declaration.input.model_dump(mode="json"),
        "timetable": timetable(declaration),
        "catchup_seconds": declaration.catchup_window.total_seconds(),
        "run_timeout_seconds": declaration.run_timeout.total_seconds() if declaration.run_timeout else None,
    }


def _spec(spec: ScheduleSpec) -> dict[str, Any]:
    # Temporal rewrites cron strings into calendars, so times are compared as it describes them, never as we wrote them.
    return {"spec": repr(spec)}


def changed_by_user(spec: ScheduleSpec, declaration: ScheduleDeclaration, row: ScheduleRow) -> bool:
    """Whether these times are a person's and not ours; those of a schedule that rests are ours too."""
    if row.applied_spec in (_BY_HAND, _DELETED):
        return True
    return row.applied_spec != _spec(spec) and not is_resting(spec, declaration)


def is_resting(spec: ScheduleSpec, declaration: ScheduleDeclaration) -> bool:
    return (
        declaration.rest_every is not None
        and [interval.every for interval in spec.intervals] == [declaration.rest_every]
        and not spec.calendars
    )


async def _remember(resources: Resources, declaration: ScheduleDeclaration, keep: dict[str, Any] | None = None) -> None:
    try:
        description = await _describe(resources.temporal, declaration.id)
    except ScheduleNotBegunError as error:
        # What is not remembered is applied once more at the next start.
        log.warning("schedule_not_begun", msg=error.message, schedule_id=declaration.id)
        return
    if description is None:
        return
    await _note(resources.database, declaration, keep or _spec(description.schedule.spec))


async def _note(database: Database, declaration: ScheduleDeclaration, spec: dict[str, Any]) -> None:
    values = {"declared": _fingerprint(declaration), "applied_spec": spec}
    async with database.unit_of_work() as work:
        statement = insert(ScheduleRow).values(schedule_id=declaration.id, **values)
        await work.session.execute(statement.on_conflict_do_update(index_elements=["schedule_id"], set_=values))


async def _delete(resources: Resources, schedule_id: str) -> None:
    try:
        await resources.temporal.get_schedule_handle(schedule_id).delete()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
    async with resources.database.unit_of_work() as work:
        await work.session.execute(delete(ScheduleRow).where(ScheduleRow.schedule_id == schedule_id))


async def load_rows(database: Database) -> dict[str, ScheduleRow]:
    async with database.unit_of_work() as work:
        return {row.schedule_id: row for row in await work.session.scalars(select(ScheduleRow))}


async def _view(client: Client, declaration: ScheduleDeclaration, row: ScheduleRow | None) -> ScheduleView:
    try:
        description = await _describe(client, declaration.id)
    except ScheduleNotBegunError as error:
        times = timetable(declaration)
        return ScheduleView(
            id=declaration.id, summary=declaration.summary, timetable=times, exists=True, problem=error.message
        )
    if description is None:
        deleted = row is not None and row.applied_spec == _DELETED
        return ScheduleView(
            id=declaration.id,
            summary=declaration.summary,
            timetable="deleted by you" if deleted else timetable(declaration),
            exists=False,
            changed_by_user=deleted,
        )
    recent = description.info.recent_actions
    upcoming = description.info.next_action_times
    changed = row is not None and changed_by_user(description.schedule.spec, declaration, row)
    state = description.schedule.state
    times = timetable(declaration)
    if changed:
        times = _chosen_timetable(description)
    elif is_resting(description.schedule.spec, declaration) and declaration.rest_every is not None:
        times = f"{_interval(declaration.rest_every)} while nothing is due, otherwise {times}"
    return ScheduleView(
        id=declaration.id,
        summary=declaration.summary,
        timetable=times,
        exists=True,
        paused=state.paused,
        note=(state.note or "") if state.paused else "",
        changed_by_user=changed,
        last_run=recent[-1].started_at if recent else None,
        next_run=upcoming[0] if upcoming and not state.paused else None,
        problem=judge_times(recent[-1].started_at if recent else None, () if state.paused else upcoming, utc_now()),
    )


def judge_times(last_run: datetime | None, upcoming: Sequence[datetime], now: datetime) -> str:
    """What is wrong with the times of a schedule, `upcoming` those of its next runs; empty when nothing is."""
    if last_run is not None and last_run > now + _AHEAD:
        return f"Its last run is said to be of {last_run:%Y-%m-%d %H:%M} UTC, which is still to come."
    # The longest, since a timetable may leave out nights and weekends.
    gap = max((after - before for before, after in pairwise(upcoming)), default=None)
    if upcoming and upcoming[0] < now - max(gap or _LATE, _LATE):
        return f"Its run of {upcoming[0]:%Y-%m-%d %H:%M} UTC is overdue."
    if gap is not None and upcoming[0] > now + 2 * gap:
        return f"Its next run is only on {upcoming[0]:%Y-%m-%d %H:%M} UTC."
    return ""


async def _describe(client: Client, schedule_id: str) -> ScheduleDescription | None:
    try:
        return await client.get_schedule_handle(schedule_id).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        if error.status is RPCStatusCode.FAILED_PRECONDITION:
            raise ScheduleNotBegunError(f"Temporal has not begun with the schedule {schedule_id} yet.") from error
        raise


def _unknown_text(schedule_id: str) -> str:
    return f"There is no schedule {schedule_id}. Create it with: pressbox schedules apply"
