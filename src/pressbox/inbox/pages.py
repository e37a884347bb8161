"""The inbox and what a person follows, as pages that work without scripts."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi import Path as PathParameter
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import StringConstraints

from pressbox.core.app import Resources
from pressbox.core.errors import NotFoundError
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.notices.followed import list_followed
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.kinds import (
    can_remind,
    choose_delay,
    choose_kinds,
    choose_reminders,
    find_kinds,
    offer_choices,
)
from pressbox.core.notices.publish import NOTICE_CHANGED
from pressbox.core.spoilers.choice import Sight
from pressbox.core.today.contracts import TODAY_CHANGED
from pressbox.core.web.pages.access import Parts, Reader
from pressbox.core.web.pages.spoilers import VisitorSight
from pressbox.core.web.rendering import render
from pressbox.core.web.times import ZONE_COOKIE
from pressbox.delivery.domain.links import STOP_PATH
from pressbox.delivery.domain.quiet_hours import choose_quiet_hours
from pressbox.delivery.service.quiet_hours import PersonalQuietHours
from pressbox.delivery.service.ways import NoticeWays
from pressbox.delivery.wiring import mailer, way_links
from pressbox.inbox.reasons import MUTE_PATH, find_reasons
from pressbox.inbox.store import InboxStore

PATH = "/inbox"
FOLLOWS_PATH = "/follows"

router = APIRouter(include_in_schema=False)


def _store(parts: Parts) -> InboxStore:
    return InboxStore(parts.database)


def _follows(parts: Parts) -> PersonalFollows:
    return PersonalFollows(parts.database)


def _ways(parts: Parts) -> NoticeWays:
    return NoticeWays(parts.database, sends_mail=mailer(parts.settings) is not None)


def _quiet(parts: Parts) -> PersonalQuietHours:
    return PersonalQuietHours(parts.database)


Quiet = Annotated[PersonalQuietHours, Depends(_quiet)]
Token = Annotated[str, PathParameter(max_length=120)]
Clock = Annotated[str, Form(max_length=20)]
Store = Annotated[InboxStore, Depends(_store)]
Ways = Annotated[NoticeWays, Depends(_ways)]
Follows = Annotated[PersonalFollows, Depends(_follows)]
Cursor = Annotated[int | None, Query(ge=1, le=2**63 - 1)]
NoticeId = Annotated[int, Form(ge=1, le=2**63 - 1)]
Subject = Annotated[str, Form(min_length=1, max_length=200)]
WayKeys = Annotated[list[Annotated[str, StringConstraints(max_length=60)]], Form()]


@router.get(PATH)
async def inbox(
    request: Request,
    parts: Parts,
    store: Store,
    follows: Follows,
    identity: Reader,
    sight: VisitorSight,
    before: Cursor = None,
    muted: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    """`muted` is what was muted a moment ago: the page offers to undo it."""
    shown = await _load(request, parts, store, follows, identity.user_id, sight, before, muted)
    return render(request, "inbox/inbox.html", **shown)


@router.get(f"{PATH}/live")
async def live_part(
    request: Request,
    parts: Parts,
    store: Store,
    follows: Follows,
    identity: Reader,
    sight: VisitorSight,
    before: Cursor = None,
) -> HTMLResponse:
    shown = await _load(request, parts, store, follows, identity.user_id, sight, before)
    return render(request, "inbox/_lines.html", **shown)


@router.get(f"{PATH}/notices/{{notice_id}}")
async def open_notice(store: Store, identity: Reader, notice_id: int) -> RedirectResponse:
    """Mark it as read and go where it leads. Browsers are told not to load this ahead."""
    path = await store.open(identity.user_id, notice_id)
    if path is None:
        raise NotFoundError("There is no such notice in your inbox. They are kept for 90 days.")
    return RedirectResponse(path, status_code=303)


@router.post(f"{PATH}/read")
async def mark(
    store: Store,
    identity: Reader,
    id: NoticeId,
    read: Annotated[bool, Form()] = True,
    before: Annotated[int | None, Form(ge=1, le=2**63 - 1)] = None,
) -> RedirectResponse:
    """Go back to the line, on the page on which it was."""
    await store.mark(identity.user_id, [id], read=read)
    query = f"?before={before}" if before else ""
    return RedirectResponse(f"{PATH}{query}#notice-{id}", status_code=303)


@router.post(f"{PATH}/read-all")
async def mark_all(store: Store, identity: Reader, up_to: NoticeId) -> RedirectResponse:
    """Mark what the page showed, not what came while it was read."""
    await store.mark_all(identity.user_id, up_to)
    return RedirectResponse(PATH, status_code=303)


@router.get(FOLLOWS_PATH)
async def follows_page(
    request: Request,
    parts: Parts,
    follows: Follows,
    ways: Ways,
    quiet: Quiet,
    identity: Reader,
    saved: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    """`saved` is what was changed a moment ago."""
    found = await follows.list(identity.user_id)
    named = await list_followed(request.app.state.manifests, parts, identity.user_id)
    offers = {follow.subject: offer_choices(request.app.state.manifests, follow) for follow in found}
    return render(
        request,
        "inbox/follows.html",
        identity=identity,
        follows=found,
        offers=offers,
        things=[thing for thing in named if not thing.comes_with],
        coming_with=[thing for thing in named if thing.comes_with],
        saved=saved,
        ways=await ways.list(identity.user_id),
        quiet=await quiet.load(identity.user_id),
        own_zone=request.cookies.get(ZONE_COOKIE) or "UTC",
    )


@router.post(f"{FOLLOWS_PATH}/choose")
async def choose(
    request: Request,
    follows: Follows,
    identity: Reader,
    subject: Subject,
    kinds: Annotated[list[str] | None, Form(max_length=50)] = None,
    reminders: Annotated[list[int] | None, Form(max_length=50)] = None,
    delay: Annotated[int | None, Form()] = None,
    origin: Annotated[str, Form(max_length=20)] = "",
) -> RedirectResponse:
    """From the page of what is followed the way leads back there."""
    follow = await follows.find(identity.user_id, subject)
    if follow is None:
        raise NotFoundError("You do not follow this.")
    chosen = choose_kinds(find_kinds(request.app.state.manifests, subject), kinds or ())
    times = follow.reminders
    if can_remind(request.app.state.manifests, subject):
        times = choose_reminders([timedelta(seconds=seconds) for seconds in reminders or ()])
    minutes = follow.delay_minutes if delay is None else choose_delay(delay)
    await follows.choose(identity.user_id, subject, kinds=chosen, reminders=times, delay_minutes=minutes)
    if origin == "subject":
        return RedirectResponse(f"{follow.path}?saved=1", status_code=303)
    return RedirectResponse(f"{FOLLOWS_PATH}?{urlencode({'saved': subject})}", status_code=303)


@router.post(f"{FOLLOWS_PATH}/ways")
async def choose_ways(ways: Ways, identity: Reader, way: WayKeys = []) -> RedirectResponse:  # noqa: B006
    """Exactly the ways that are ticked; a form without a tick sends none."""
    await ways.choose(identity.user_id, way)
    return RedirectResponse(f"{FOLLOWS_PATH}#ways", status_code=303)


@router.post(f"{FOLLOWS_PATH}/quiet")
async def choose_quiet(
    quiet: Quiet, identity: Reader, begins: Clock = "", ends: Clock = "", zone: Annotated[str, Form(max_length=60)] = ""
) -> RedirectResponse:
    """Two empty times end the quiet hours."""
    await quiet.choose(identity.user_id, choose_quiet_hours(begins, ends, zone))
    return RedirectResponse(f"{FOLLOWS_PATH}#quiet", status_code=303)


@router.get(f"{STOP_PATH}/{{token}}")
async def stop_page(request: Request, parts: Parts, token: Token) -> HTMLResponse:
    """A GET changes nothing: programs open links too."""
    way_links(parts.settings).read_token(token)
    return render(request, "inbox/stop.html", done=False)


@router.post(f"{STOP_PATH}/{{token}}")
async def stop(request: Request, parts: Parts, ways: Ways, token: Token) -> HTMLResponse:
    """Also takes the one-click POST of RFC 8058, which a mail server sends without cookies or a page before."""
    way = way_links(parts.settings).read_token(token)
    await ways.stop(way.user_id, way.channel_key)
    return render(request, "inbox/stop.html", done=True)


@router.post(MUTE_PATH)
async def mute(
    follows: Follows,
    identity: Reader,
    subject: Subject,
    muted: Annotated[bool, Form()] = True,
    origin: Annotated[str, Form(max_length=20)] = "",
) -> RedirectResponse:
    """From the inbox the way leads back there, with the offer to undo it."""
    if not await follows.mute(identity.user_id, subject, muted):
        raise NotFoundError("You do not follow this.")
    if origin != "inbox":
        return RedirectResponse(FOLLOWS_PATH, status_code=303)
    return RedirectResponse(f"{PATH}?{urlencode({'muted': subject})}" if muted else PATH, status_code=303)


@router.post(f"{FOLLOWS_PATH}/leave")
async def leave(follows: Follows, identity: Reader, subject: Subject) -> RedirectResponse:
    await follows.unfollow(identity.user_id, subject)
    return RedirectResponse(FOLLOWS_PATH, status_code=303)


async def _load(
    request: Request,
    parts: Resources,
    store: InboxStore,
    follows: PersonalFollows,
    user_id: int,
    sight: Sight,
    before: int | None,
    muted: str = "",
) -> Mapping[str, Any]:
    """Everything that the page shows, or its live part."""
    # The cursor is read before the data, so that no change is missed.
    feed: ChangeFeed = request.app.state.feed
    cursor = await feed.newest()
    followed = await follows.list(user_id)
    view = await store.load(user_id, before=before)
    subjects = {line.because_subject for line in view.lines} | ({muted} if muted else set())
    reasons = await find_reasons(request.app.state.manifests, parts, user_id, followed, subjects)
    just_muted = reasons.get(muted)
    return {
        "view": view,
        "follows": followed,
        "reasons": reasons,
        "muted": just_muted if just_muted and just_muted.muted else None,
        "before": before,
        # A mute in another window changes what the lines offer.
        "topic": f"{NOTICE_CHANGED},{TODAY_CHANGED}:{user_id}",
        "cursor": cursor,
        # Nobody hears live of what they want to know later: the page asks again by itself.
        "delayed": sight.delayed or any(follow.delay_minutes for follow in followed),
    }
