"""All sources with their health, the page of one with its failures, settings and rules; categories; adding sources."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Path, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.errors import ConflictError, InvalidInputError, PermanentError, PressboxError, TransientError
from pressbox.core.web.identity import Identity
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.library.domain import FEED_CHANGED, PERSON_CHANGED, ExtractionRule
from pressbox.curator.reading.access import (
    IMAGES_COOKIE,
    PATH,
    FeedId,
    Reader,
    allow_images,
    cursor,
    proxies_images,
    read_number,
    wants_images,
)
from pressbox.curator.reading.domain import ListKind
from pressbox.curator.reading.pages import AtReader
from pressbox.curator.sources.domain import FeedSettings, FeedView, FoundFeedView, PreviewView
from pressbox.curator.sources.service import MOST_BYTES, OutlineService, SourceService
from pressbox.curator.sources.wiring import outline_service, source_service

router = APIRouter(include_in_schema=False)
adding = APIRouter(include_in_schema=False)

Sources = Annotated[SourceService, Depends(provide(source_service))]
SOURCES_PATH = f"{PATH}/sources"
FEEDS_PATH = f"{PATH}/feeds"
# A form that never ends would be a way to fill memory.
MOST_RULES = 20
# As many as fit a small page.
SOURCES_SHOWN = 12
YEAR_SECONDS = 31_536_000
Text = Annotated[str, Form(max_length=2000)]
Texts = Annotated[list[str], Form()]
PageNumber = Annotated[int, Query(ge=1, le=10_000)]


@dataclass(frozen=True)
class Draft:
    """What somebody typed into the rules and has not saved, and what a page became with it."""

    url: str = ""
    rules: Sequence[ExtractionRule] = ()
    preview: PreviewView | None = None
    error: str = ""
    extra: Sequence[int] = field(default=(1, 2))


@router.get(SOURCES_PATH)
async def sources_page(
    request: Request, service: Sources, identity: Reader, only: str = "", page: PageNumber = 1, q: str = ""
) -> HTMLResponse:
    """All sources by category; `only=failing` names those in trouble."""
    at = await cursor(request)
    sources = await service.sources(identity.user_id)
    chosen = [feed for feed in sources.feeds if _is_wanted(feed, only, q)]
    pages = max(1, -(-len(chosen) // SOURCES_SHOWN))
    number = min(page, pages)
    return render(
        request,
        "curator/sources.html",
        identity=identity,
        sources=sources,
        feeds=chosen[(number - 1) * SOURCES_SHOWN : number * SOURCES_SHOWN],
        total=len(chosen),
        only=only if only == "failing" else "",
        query=q[:200],
        page=number,
        pages=pages,
        images=wants_images(request),
        proxied=proxies_images(request),
        cursor=at,
        follow=f"{FEED_CHANGED},{PERSON_CHANGED}:{identity.user_id}",
    )


@router.get(f"{PATH}/keys")
async def keys_page(request: Request, identity: Reader) -> HTMLResponse:
    """Other keys for those who are used to others; the browser keeps them."""
    return render(request, "curator/keys.html", identity=identity)


@router.post(f"{SOURCES_PATH}/pictures")
async def pictures(request: Request, identity: Reader, load: Text = "yes") -> Response:
    """Whether this browser loads pictures from publishers."""
    answer = RedirectResponse(f"{SOURCES_PATH}#pictures", status_code=303)
    if load == "no":
        answer.set_cookie(IMAGES_COOKIE, "off", max_age=YEAR_SECONDS, samesite="lax", httponly=True)
    else:
        answer.delete_cookie(IMAGES_COOKIE)
    return answer


@router.post(f"{SOURCES_PATH}/categories")
async def change_category(
    service: Sources, identity: Reader, category: Text, name: Text = "", delete: Text = ""
) -> Response:
    category_id = read_number(category, "category")
    if delete:
        await service.delete_category(identity.user_id, category_id)
    else:
        await service.rename_category(identity.user_id, category_id, name)
    return RedirectResponse(f"{SOURCES_PATH}#categories", status_code=303)


@router.get(f"{FEEDS_PATH}/{{feed_id}}")
async def feed_page(request: Request, service: Sources, identity: Reader, feed_id: FeedId) -> HTMLResponse:
    return await _feed_page(request, service, identity, feed_id)


@router.post(f"{FEEDS_PATH}/{{feed_id}}/place")
async def place_feed(
    request: Request,
    service: Sources,
    identity: Reader,
    feed_id: FeedId,
    title: Text = "",
    category: Text = "",
    new_category: Text = "",
) -> Response:
    try:
        category_id = await category_of(service, identity, category, new_category)
        await service.place(identity.user_id, feed_id, title=title, category_id=category_id)
    except InvalidInputError as error:
        return await _feed_page(request, service, identity, feed_id, Draft(error=error.message), error.status)
    return _back(feed_id)


@router.post(f"{FEEDS_PATH}/{{feed_id}}/settings")
async def change_feed(
    request: Request,
    service: Sources,
    identity: Reader,
    feed_id: FeedId,
    full_text: Text = "",
    minutes: Text = "",
    limit: Text = "",
    kind: Texts = [],  # noqa: B006 (the framework copies it)
    keep: Texts = [],  # noqa: B006
    expression: Texts = [],  # noqa: B006
    preview: Text = "",
    url: Text = "",
) -> Response:
    """Save, or with the other button only show what the rules would do."""
    rules = rules_of(kind, keep, expression)
    if preview:
        draft = await _previewed(service, identity.user_id, url, rules)
        return await _feed_page(request, service, identity, feed_id, draft)
    try:
        wanted = settings_of(full_text, minutes, limit, kind, keep, expression)
        await service.change(identity.user_id, feed_id, wanted, administrator=identity.is_administrator)
    except InvalidInputError as error:
        return await _feed_page(
            request, service, identity, feed_id, Draft(rules=rules, error=error.message), error.status
        )
    return _back(feed_id)


@router.post(f"{FEEDS_PATH}/{{feed_id}}/act")
async def act(service: Sources, identity: Reader, feed_id: FeedId, what: Text) -> Response:
    """Refresh, retry, pause, resume or unsubscribe."""
    user_id, may = identity.user_id, identity.is_administrator
    if what == "refresh":
        await service.refresh(user_id, feed_id)
    elif what == "retry":
        await service.retry(user_id, feed_id)
    elif what == "pause":
        await service.pause(user_id, feed_id, administrator=may)
    elif what == "resume":
        await service.resume(user_id, feed_id, administrator=may)
    elif what == "unsubscribe":
        await service.unsubscribe(user_id, feed_id)
        return RedirectResponse(SOURCES_PATH, status_code=303)
    else:
        raise InvalidInputError("A source can be refreshed, retried, paused, resumed or left.", field="what")
    return _back(feed_id)


@router.post(f"{PATH}/refresh")
async def refresh(reader: AtReader, sources: Sources) -> Response:
    """Look for news now: in the source that is shown, or in all."""
    chosen = reader.place.selection
    if chosen.kind is ListKind.FEED and chosen.id is not None:
        await sources.refresh(reader.user_id, chosen.id)
    else:
        await sources.refresh_all(reader.user_id)
    return RedirectResponse(f"{PATH}?{reader.place.query()}", status_code=303)


async def _previewed(service: SourceService, user_id: int, url: str, rules: Sequence[ExtractionRule]) -> Draft:
    try:
        return Draft(url=url, rules=rules, preview=await service.preview(user_id, url, rules))
    except (InvalidInputError, ConflictError, TransientError) as error:
        return Draft(url=url, rules=rules, error=error.message)


async def _feed_page(
    request: Request,
    service: SourceService,
    identity: Identity,
    feed_id: int,
    draft: Draft | None = None,
    status: int = 200,
) -> HTMLResponse:
    at = await cursor(request)
    detail = await service.detail(identity.user_id, feed_id)
    feed = detail.feed
    page = render(
        request,
        "curator/feed.html",
        status,
        identity=identity,
        detail=detail,
        feed=feed,
        draft=draft or Draft(url=feed.site_url, rules=feed.rules),
        categories=(await service.sources(identity.user_id)).categories,
        may_change=identity.is_administrator or not feed.shared,
        cursor=at,
        follow=f"{FEED_CHANGED}:{feed_id}",
    )
    return allow_images(request, page)


def _is_wanted(feed: FeedView, only: str, words: str) -> bool:
    if only == "failing" and not feed.health.failing:
        return False
    return words.casefold().strip() in f"{feed.title} {feed.url} {feed.category}".casefold()


def _back(feed_id: int) -> Response:
    return RedirectResponse(f"{FEEDS_PATH}/{feed_id}", status_code=303)


async def category_of(sources: SourceService, identity: Identity, chosen: str, new: str) -> int | None:
    """The category that a form names: a new one by its name, one that exists by its id, or none."""
    if new.strip():
        return (await sources.create_category(identity.user_id, new)).id
    return read_number(chosen, "category") if chosen.strip() else None


def settings_of(
    full_text: str, minutes: str, limit: str, kinds: Sequence[str], keeps: Sequence[str], expressions: Sequence[str]
) -> FeedSettings:
    between = read_number(minutes, "interval") if minutes.strip() else None
    return FeedSettings(
        full_text=full_text == "yes",
        rules=tuple(rules_of(kinds, keeps, expressions)),
        interval=timedelta(minutes=between) if between is not None else None,
        entry_limit=read_number(limit, "entry_limit") if limit.strip() else None,
    )


def rules_of(kinds: Sequence[str], keeps: Sequence[str], expressions: Sequence[str]) -> Sequence[ExtractionRule]:
    """Lines without an expression are lines that nobody filled in."""
    lines = zip(kinds, keeps, expressions, strict=False)
    rules = [ExtractionRule(kind, expression.strip(), keep == "keep") for kind, keep, expression in lines]
    return [rule for rule in rules if rule.expression][:MOST_RULES]


ADD_PATH = f"{PATH}/add"
Address = Annotated[str, Query(max_length=2000)]


@adding.get(ADD_PATH)
async def add_page(request: Request, service: Sources, identity: Reader, address: Address = "") -> HTMLResponse:
    """Without an address the empty form; with one what was found there."""
    if not address.strip():
        return await _page(request, service, identity, address)
    try:
        found = await service.discover(identity.user_id, address)
    except (InvalidInputError, PermanentError, TransientError) as error:
        return await _page(request, service, identity, address, problem=error)
    return await _page(request, service, identity, address, found=found)


@adding.post(ADD_PATH)
async def add(
    request: Request,
    service: Sources,
    identity: Reader,
    url: Text,
    title: Text = "",
    called: Text = "",
    category: Text = "",
    new_category: Text = "",
) -> Response:
    try:
        category_id = await category_of(service, identity, category, new_category)
        feed = await service.subscribe(identity.user_id, url, title=title, category_id=category_id, called=called)
    except InvalidInputError as error:
        return await _page(request, service, identity, url, problem=error)
    return RedirectResponse(f"{PATH}?list=feed&id={feed.id}", status_code=303)


@adding.post(f"{ADD_PATH}/first")
async def add_first(request: Request, service: Sources, identity: Reader, address: Text = "") -> Response:
    """Subscribe to the best feed of a site in one step, from the first page, and go back to it."""
    try:
        await service.add(identity.user_id, address)
    except (InvalidInputError, PermanentError, TransientError) as error:
        return await _page(request, service, identity, address, problem=error)
    return RedirectResponse("/", status_code=303)


async def _page(
    request: Request,
    service: SourceService,
    identity: Identity,
    address: str,
    *,
    found: Sequence[FoundFeedView] = (),
    problem: PressboxError | None = None,
) -> HTMLResponse:
    return render(
        request,
        "curator/add.html",
        problem.status if problem else 200,
        identity=identity,
        address=address,
        found=found,
        error=problem.message if problem else "",
        categories=(await service.sources(identity.user_id)).categories,
        unread_at_start=service.unread_at_start,
    )


Outlines = Annotated[OutlineService, Depends(provide(outline_service))]
IMPORT_PATH = f"{PATH}/import"
ImportId = Annotated[str, Path(max_length=20)]
# Of the failing ones the page names so many; the page of sources has all.
FAILING_SHOWN = 50


@adding.get(IMPORT_PATH)
async def import_page(request: Request, identity: Reader) -> HTMLResponse:
    return render(request, "curator/import.html", identity=identity, error="")


@adding.post(IMPORT_PATH)
async def take(request: Request, service: Outlines, identity: Reader, file: Annotated[UploadFile, File()]) -> Response:
    try:
        report = await service.take(identity.user_id, await file.read(MOST_BYTES + 1))
    except InvalidInputError as error:
        return render(request, "curator/import.html", error.status, identity=identity, error=error.message)
    return RedirectResponse(f"{IMPORT_PATH}/{report.id}", status_code=303)


@adding.get(f"{IMPORT_PATH}/{{import_id}}")
async def report_page(request: Request, service: Outlines, identity: Reader, import_id: ImportId) -> HTMLResponse:
    return await _report(request, service, identity, import_id, "curator/imported.html")


@adding.get(f"{IMPORT_PATH}/{{import_id}}/live")
async def report_part(request: Request, service: Outlines, identity: Reader, import_id: ImportId) -> HTMLResponse:
    """The part of the page that follows changes, alone."""
    return await _report(request, service, identity, import_id, "curator/_imported.html")


async def _report(request: Request, service: Outlines, identity: Reader, import_id: str, template: str) -> HTMLResponse:
    at = await cursor(request)
    report = await service.progress(identity.user_id, import_id)
    return render(
        request,
        template,
        identity=identity,
        report=report,
        failing=report.failing[:FAILING_SHOWN],
        cursor=at,
        follow=FEED_CHANGED,
    )
