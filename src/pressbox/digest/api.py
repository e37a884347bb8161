"""The digest of a person for programs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field

from pressbox.core.clock import utc_now
from pressbox.core.digests import DigestSection
from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.core.web.pages.access import Reader, WorkViewer
from pressbox.digest.domain import Rhythm, stamp
from pressbox.digest.pages import Desk, Store, browser_choice, find_issue, make_choice
from pressbox.digest.store import Issue

router = APIRouter(prefix="/api/digest", tags=["digest"])


class DigestChoice(RequestBody):
    rhythm: Rhythm
    at: Annotated[str, Field(max_length=20, description="On the clocks of the zone, as 07:30.")] = "07:30"
    zone: Annotated[str, Field(max_length=100, description="Such as Europe/Berlin.")] = "UTC"
    weekday: Annotated[int, Field(ge=0, le=6, description="0 is Monday; for weekly ones.")] = 0


class DigestView(ResponseModel):
    rhythm: Rhythm
    at: str
    zone: str
    weekday: int
    due_at: datetime | None = Field(description="When the next one comes; null while it is off.")


class IssueName(ResponseModel):
    name: str = Field(description="Of a digest that was sent.")
    since: datetime
    until: datetime


class IssueView(ResponseModel):
    name: str | None = Field(description="null: a preview, or there was nothing to say and nothing was sent.")
    since: datetime | None
    until: datetime | None
    sections: Sequence[DigestSection]


@router.get("", summary="How often you get a digest, and when the next one comes")
async def read_digest(request: Request, store: Store, identity: Reader) -> DigestView:
    known = await store.load(identity.user_id)
    choice = known.choice if known else browser_choice(request)
    return DigestView(
        rhythm=choice.rhythm,
        at=f"{choice.at:%H:%M}",
        zone=choice.zone,
        weekday=choice.weekday,
        due_at=known.due_at if known else None,
    )


@router.put("", summary="Get a digest every day or every week, or none")
async def choose_digest(request: Request, store: Store, identity: Reader, wanted: DigestChoice) -> DigestView:
    choice = make_choice(wanted.rhythm, wanted.at, wanted.zone, wanted.weekday)
    await store.save(identity.user_id, choice, utc_now())
    return await read_digest(request, store, identity)


@router.get("/preview", summary="What a digest would say now")
async def preview_digest(request: Request, store: Store, desk: Desk, identity: Reader, viewer: WorkViewer) -> IssueView:
    known = await store.load(identity.user_id)
    choice = known.choice if known else browser_choice(request)
    view = await desk.preview(identity.user_id, choice, viewer, identity.language)
    return IssueView(name=None, since=view.since, until=view.until, sections=view.sections)


@router.post("/send", summary="Send a digest now; the next one goes on from here")
async def send_digest(request: Request, desk: Desk, identity: Reader) -> IssueView:
    issue = await desk.send_now(identity.user_id, browser_choice(request))
    if issue is None:
        return IssueView(name=None, since=None, until=None, sections=())
    return await _view(desk, identity.user_id, issue)


@router.get("/issues", summary="Digests that were sent, newest first")
async def list_issues(store: Store, identity: Reader) -> Sequence[IssueName]:
    issues = await store.list_issues(identity.user_id)
    return [IssueName(name=stamp(one.period), since=one.since, until=one.until) for one in issues]


@router.get("/issues/{name}", summary="One digest that was sent")
async def read_issue(store: Store, desk: Desk, identity: Reader, name: str) -> IssueView:
    return await _view(desk, identity.user_id, await find_issue(store, identity.user_id, name))


async def _view(desk: Desk, user_id: int, issue: Issue) -> IssueView:
    shown = await desk.show(user_id, issue.sections)
    return IssueView(name=stamp(issue.period), since=issue.since, until=issue.until, sections=shown)
