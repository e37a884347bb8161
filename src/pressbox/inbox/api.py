"""The inbox and the follows of a person for programs."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field

from pressbox.core.errors import NotFoundError
from pressbox.core.notices.follows import Follow
from pressbox.core.notices.kinds import choose_delay, choose_kinds, choose_reminders, find_kinds
from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.core.web.pages.access import Reader
from pressbox.delivery.service.ways import Way
from pressbox.inbox.pages import Cursor, Follows, Store, Ways
from pressbox.inbox.store import PAGE, Line

router = APIRouter(prefix="/api", tags=["inbox"])

NoticeIds = Annotated[list[Annotated[int, Field(ge=1, le=2**63 - 1)]], Field(min_length=1, max_length=500)]


class InboxPage(ResponseModel):
    notices: Sequence[Line]
    unread: int
    older: int | None = Field(description="Give it as `before` for the next page; null: there is none.")


class ReadMarks(RequestBody):
    ids: NoticeIds
    read: bool = True


class MarkedNotices(ResponseModel):
    changed: int


class FollowChange(RequestBody):
    """What is left out stays as it is."""

    muted: bool | None = None
    kinds: Annotated[list[str] | None, Field(max_length=50)] = Field(
        None, description="Of which kinds of notices you hear; null: of those that are told by default."
    )
    reminders: Annotated[list[int] | None, Field(max_length=50)] = Field(
        None, description="How many seconds before it begins you are reminded; null: 15 minutes before."
    )
    delay_minutes: int | None = Field(
        None, description="How many minutes after others you hear of it; null leaves it as it is."
    )


class WayChoice(RequestBody):
    keys: Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=100)] = Field(
        description="The keys of all ways that you want; what you leave out is silent."
    )


@router.get("/inbox", summary="What you were told, newest first")
async def read_inbox(
    store: Store, identity: Reader, before: Cursor = None, limit: Annotated[int, Query(ge=1, le=200)] = PAGE
) -> InboxPage:
    page = await store.load(identity.user_id, before=before, limit=limit)
    return InboxPage(notices=page.lines, unread=page.unread, older=page.older)


@router.post("/inbox/read", summary="Mark notices as read or unread")
async def mark_notices(store: Store, identity: Reader, marks: ReadMarks) -> MarkedNotices:
    return MarkedNotices(changed=await store.mark(identity.user_id, marks.ids, read=marks.read))


@router.get("/follows", summary="What you follow")
async def list_follows(follows: Follows, identity: Reader) -> Sequence[Follow]:
    return await follows.list(identity.user_id)


@router.get("/follows/ways", summary="By which ways you can be told of what you follow")
async def list_ways(ways: Ways, identity: Reader) -> Sequence[Way]:
    return await ways.list(identity.user_id)


@router.put("/follows/ways", summary="Choose by which ways you are told of what you follow")
async def choose_ways(ways: Ways, identity: Reader, choice: WayChoice) -> Sequence[Way]:
    return await ways.choose(identity.user_id, choice.keys)


@router.patch("/follows/{subject}", summary="Mute something you follow, or choose what you hear of it", status_code=204)
async def change_follow(
    request: Request, follows: Follows, identity: Reader, subject: str, change: FollowChange
) -> None:
    follow = await follows.find(identity.user_id, subject)
    if follow is None:
        raise NotFoundError("You do not follow this.")
    stated = change.model_fields_set
    kinds, reminders = follow.kinds, follow.reminders
    if "kinds" in stated:
        offered = find_kinds(request.app.state.manifests, subject)
        kinds = None if change.kinds is None else choose_kinds(offered, change.kinds)
    if "reminders" in stated:
        times = None if change.reminders is None else [timedelta(seconds=one) for one in change.reminders]
        reminders = None if times is None else choose_reminders(times)
    delay = follow.delay_minutes if change.delay_minutes is None else choose_delay(change.delay_minutes)
    if stated & {"kinds", "reminders", "delay_minutes"}:
        await follows.choose(identity.user_id, subject, kinds=kinds, reminders=reminders, delay_minutes=delay)
    if change.muted is not None:
        await follows.mute(identity.user_id, subject, change.muted)


@router.delete("/follows/{subject}", summary="Follow something no longer", status_code=204)
async def end_follow(follows: Follows, identity: Reader, subject: str) -> None:
    await follows.unfollow(identity.user_id, subject)
