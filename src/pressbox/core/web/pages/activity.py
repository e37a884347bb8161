"""The activity page: every workflow as a live tree, and what an administrator may do to one."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from pressbox.core.audiences.members import Viewer
from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.progress import reader
from pressbox.core.temporal import control
from pressbox.core.web.pages.access import Administrator, Parts, Reader, WorkViewer
from pressbox.core.web.pages.branches import (
    blank_branches,
    branch,
    fold_earlier,
    leaf,
    split,
    take_planned,
    temporal_home,
    temporal_link,
)
from pressbox.core.web.pages.top_line import TopLine, load_top_line
from pressbox.core.web.rendering import render

# As many as fit a small page; older ones are a link away.
FINISHED_SHOWN = 15
FINISHED_AT_MOST = 200
DETAIL_CHILDREN = 25

router = APIRouter(tags=["activity"])


@router.get("/activity", include_in_schema=False)
async def activity_page(
    request: Request,
    parts: Parts,
    identity: Reader,
    viewer: WorkViewer,
    finished: Annotated[int | None, Query(ge=0, le=FINISHED_AT_MOST)] = None,
) -> HTMLResponse:
    limit = FINISHED_SHOWN if finished is None else finished
    view = await reader.activity(parts.database, viewer, finished_limit=limit)
    opened, closed = split(view.nodes)
    opened, earlier = fold_earlier(opened)
    planned, closed = take_planned(closed)
    return render(
        request,
        "activity.html",
        identity=identity,
        view=view,
        open=[branch(node) for node in opened],
        earlier=[leaf(node) for node in earlier],
        planned=[leaf(node) for node in planned],
        closed=[leaf(node) for node in closed],
        older=FINISHED_AT_MOST if len(closed) >= limit and limit < FINISHED_AT_MOST else None,
        unfold=finished is not None,
        blank=blank_branches(),
        may_control=identity.is_administrator,
        temporal_ui=temporal_home(parts) if identity.is_administrator else None,
    )


@router.get("/api/activity", summary="All running and recent workflows as a tree")
async def activity_json(
    parts: Parts, viewer: WorkViewer, finished: Annotated[int, Query(ge=0, le=FINISHED_AT_MOST)] = 100
) -> reader.ActivityView:
    return await reader.activity(parts.database, viewer, finished_limit=finished)


@router.get("/api/activity/summary", summary="How many workflows run and failed, and how many notices are unread")
async def activity_summary(parts: Parts, viewer: WorkViewer) -> TopLine:
    return await load_top_line(parts.database, viewer)


@router.get("/api/workflows/active", summary="What runs now, with its own counters; for a page that comes back")
async def active_json(parts: Parts, viewer: WorkViewer) -> reader.ActiveWork:
    return await reader.active(parts.database, viewer)


@router.get("/activity/{workflow_id:path}/cancel", include_in_schema=False)
async def confirm_cancel(
    request: Request, parts: Parts, identity: Administrator, viewer: WorkViewer, workflow_id: str
) -> HTMLResponse:
    node = await _load_node(parts.database, viewer, workflow_id)
    return render(request, "activity_cancel.html", identity=identity, node=node)


@router.post("/activity/{workflow_id:path}/cancel", include_in_schema=False)
async def cancel(parts: Parts, identity: Administrator, workflow_id: str) -> RedirectResponse:
    await control.cancel(parts.temporal, workflow_id)
    return RedirectResponse("/activity", status_code=303)


@router.post("/activity/{workflow_id:path}/retry", include_in_schema=False)
async def retry(parts: Parts, identity: Administrator, workflow_id: str) -> RedirectResponse:
    await control.retry(parts.temporal, workflow_id)
    return RedirectResponse("/activity", status_code=303)


@router.get("/activity/{workflow_id:path}", include_in_schema=False)
async def activity_detail(
    request: Request,
    parts: Parts,
    identity: Reader,
    viewer: WorkViewer,
    workflow_id: str,
    after: Annotated[int, Query(ge=0, le=100_000)] = 0,
) -> HTMLResponse:
    node = await _load_node(parts.database, viewer, workflow_id)
    parent = await reader.node(parts.database, viewer, node.parent_workflow_id) if node.parent_workflow_id else None
    return render(
        request,
        "activity_detail.html",
        identity=identity,
        node=node,
        parent=parent,
        it=branch(node, -1, closed_from=after, closed_limit=DETAIL_CHILDREN),
        after=after,
        next_page=after + DETAIL_CHILDREN,
        may_control=identity.is_administrator,
        temporal_link=temporal_link(parts, node) if identity.is_administrator else None,
    )


async def _load_node(database: Database, viewer: Viewer, workflow_id: str) -> reader.ActivityNode:
    node = await reader.node(database, viewer, workflow_id)
    if node is None:
        raise NotFoundError("There is no such work for you, or it is older than what is kept.")
    return node
