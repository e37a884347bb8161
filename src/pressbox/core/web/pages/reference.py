"""Pages about Pressbox itself: the API reference, made from what the application really answers, and the styleguide."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from pressbox.core.errors import NotFoundError
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.reader import ActivityNode
from pressbox.core.web.pages.access import Reader
from pressbox.core.web.pages.branches import branch, split
from pressbox.core.web.pages.openapi import read_groups, read_schemas
from pressbox.core.web.rendering import render

router = APIRouter(include_in_schema=False)


@router.get("/api/docs")
async def api_contents(request: Request, identity: Reader) -> HTMLResponse:
    groups = read_groups(request.app.openapi(), _base(request))
    return render(request, "api_docs.html", identity=identity, groups=groups)


@router.get("/api/docs/{name}")
async def api_group(request: Request, identity: Reader, name: str) -> HTMLResponse:
    document = request.app.openapi()
    group = next((group for group in read_groups(document, _base(request)) if group.name == name), None)
    if group is None:
        raise NotFoundError("The API has no such group.", name=name)
    schemas = read_schemas(document, name)
    return render(request, "api_group.html", identity=identity, group=group, schemas=schemas)


def _base(request: Request) -> str:
    return str(request.base_url).rstrip("/")


@dataclass(frozen=True)
class Sample:
    """A made-up workflow for the styleguide: a few words are enough to draw it."""

    title: str
    state: ProgressState
    done: int = 0
    total: int | None = None
    message: str = ""
    error: str = ""
    ago: timedelta = timedelta(minutes=4)
    took: timedelta | None = None
    children: tuple["Sample", ...] = ()


SAMPLES = (
    Sample(
        "Rebuilding the search index",
        ProgressState.FAILED,
        18220,
        50112,
        error="The disk is full: 12 MB are left. Free some space, then retry.",
        took=timedelta(minutes=38),
    ),
    Sample(
        "Ingesting 48 feeds",
        ProgressState.RUNNING,
        31,
        48,
        message="fetch 31/48 · distil 12/48",
        children=(
            Sample("example.org", ProgressState.RUNNING, 3, 5, message="fetch 3/5"),
            Sample("example.net", ProgressState.COMPLETED, 5, 5, took=timedelta(seconds=12)),
        ),
    ),
    Sample("Cleaning up", ProgressState.RUNNING, 1204, message="total not known yet"),
    Sample("Translating 12 articles", ProgressState.CANCELLED, 4, 12, took=timedelta(seconds=75)),
)


@router.get("/styleguide")
async def styleguide(request: Request) -> HTMLResponse:
    """Every component in all its states. Open to anybody: it shows nothing of the instance.

    An application adds its own with a template called `_styleguide.html`.
    """
    opened, closed = split(_sample_node(sample, number) for number, sample in enumerate(SAMPLES))
    return render(
        request,
        "styleguide.html",
        open=[branch(node) for node in opened],
        closed=[branch(node) for node in closed],
        soon=datetime.now(UTC) + timedelta(minutes=25),
        earlier=datetime.now(UTC) - timedelta(days=3, hours=2),
    )


def _sample_node(sample: Sample, number: int, parent: str | None = None) -> ActivityNode:
    name = f"{parent}-{number}" if parent else f"sample-{number}"
    started = datetime.now(UTC) - sample.ago
    closed = started + sample.took if sample.took else None
    return ActivityNode(
        workflow_id=name,
        run_id=name,
        workflow_type="Sample",
        parent_workflow_id=parent,
        state=sample.state,
        title=sample.title,
        done=sample.done,
        total=sample.total,
        message=sample.message,
        error=sample.error,
        started_at=started,
        updated_at=closed or started,
        closed_at=closed,
        children=tuple(_sample_node(child, index, name) for index, child in enumerate(sample.children)),
    )
