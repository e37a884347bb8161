"""The status page: every part, the last errors, and the schedules with what may be done to them."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from temporalio.client import Client
from temporalio.service import RPCError

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.contracts import Contract
from pressbox.core.errors import NotFoundError, TransientError
from pressbox.core.health import HealthState, PartHealth, check_parts, worst
from pressbox.core.logs import get_logger
from pressbox.core.progress.reader import ActivityNode, latest_failures
from pressbox.core.temporal import schedules
from pressbox.core.temporal.schedules import ScheduleView
from pressbox.core.web.pages.access import Administrator, Parts, Reader, WorkViewer
from pressbox.core.web.rendering import render

LAST_ERRORS = 10
SCHEDULES_LIMIT = timedelta(seconds=3)

log = get_logger(__name__)
router = APIRouter(tags=["status"])


class StatusView(Contract):
    """Every part and the last errors; `state` is that of the worst part."""

    state: HealthState
    parts: tuple[PartHealth, ...]
    last_errors: tuple[ActivityNode, ...]


class ScheduleAct(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    RUN = "run"


_ACTS: dict[ScheduleAct, Callable[[Client, str], Awaitable[None]]] = {
    ScheduleAct.PAUSE: schedules.pause,
    ScheduleAct.RESUME: schedules.resume,
    ScheduleAct.RUN: schedules.run_now,
}


@router.get("/status", include_in_schema=False)
async def status_page(request: Request, parts: Parts, identity: Reader, viewer: WorkViewer) -> HTMLResponse:
    view, found = await asyncio.gather(_status(request, parts, viewer), _schedules_if_possible(request, parts))
    return render(
        request,
        "status.html",
        identity=identity,
        view=view,
        schedules=found,
        may_control=identity.is_administrator,
        pressed=None,
    )


@router.get("/status/parts", include_in_schema=False)
async def status_parts(request: Request, parts: Parts, identity: Reader, viewer: WorkViewer) -> HTMLResponse:
    """The upper half alone, which the page asks for again while it is open."""
    return render(request, "_status_parts.html", identity=identity, view=await _status(request, parts, viewer))


@router.get("/api/status", summary="Every part of the instance and the last errors")
async def status_json(request: Request, parts: Parts, viewer: WorkViewer) -> StatusView:
    return await _status(request, parts, viewer)


@router.get("/api/schedules", summary="All schedules with last and next run")
async def schedules_json(request: Request, parts: Parts, identity: Reader) -> tuple[ScheduleView, ...]:
    return await schedules.list_schedules(parts, request.app.state.manifests)


@router.post("/status/schedules/{schedule_id}/{act}", include_in_schema=False)
async def act_on_schedule(
    request: Request,
    parts: Parts,
    identity: Administrator,
    schedule_id: str,
    act: ScheduleAct,
    hx_request: Annotated[bool, Header()] = False,
) -> Response:
    """Pause, resume or run now. With htmx only the schedule's row comes back, otherwise the page."""
    known = {declaration.id for declaration in schedules.declared_schedules(parts, request.app.state.manifests)}
    if schedule_id not in known:
        raise NotFoundError("There is no such schedule.", schedule_id=schedule_id)
    await _ACTS[act](parts.temporal, schedule_id)
    log.info(
        "schedule_changed", msg=f"Schedule {schedule_id}: {act}", schedule_id=schedule_id, user_id=identity.user_id
    )
    if not hx_request:
        return RedirectResponse("/status#schedules", status_code=303)
    views = await schedules.list_schedules(parts, request.app.state.manifests)
    view = next(view for view in views if view.id == schedule_id)
    return render(request, "_schedule.html", identity=identity, schedule=view, may_control=True, pressed=act.value)


async def _status(request: Request, parts: Resources, viewer: Viewer) -> StatusView:
    checked = await check_parts(parts, request.app.state.manifests)
    failures = await latest_failures(parts.database, viewer, LAST_ERRORS)
    return StatusView(state=worst(checked), parts=checked, last_errors=failures)


async def _schedules_if_possible(request: Request, parts: Resources) -> tuple[ScheduleView, ...] | None:
    """None while Temporal is away: the page must stand exactly then, and soon."""
    try:
        async with asyncio.timeout(SCHEDULES_LIMIT.total_seconds()):
            return await schedules.list_schedules(parts, request.app.state.manifests)
    # One that refuses for another reason, such as a key it does not know, is no reason for this page to fall.
    except (TransientError, TimeoutError, RPCError) as error:
        log.warning("schedules_unreadable", msg="Temporal does not list the schedules", error=str(error))
        return None
