"""The reader: its pages, their parts, pictures of publishers, and what people do with articles and lists."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.config import Settings
from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.core.web.identity import SignedInIdentity
from pressbox.core.web.pages.access import Parts, provide
from pressbox.core.web.rates import spend
from pressbox.core.web.rendering import render
from pressbox.curator.library.quotas import REFRESHES
from pressbox.curator.models.store import CostService
from pressbox.curator.models.wiring import cost_service
from pressbox.curator.reading.access import LAST_MOMENT, PATH, EntryId, Here, Reader, allow_images, moment, wants_part
from pressbox.curator.reading.domain import ListKind, Preference, Sort
from pressbox.curator.reading.extensions import add_passage, add_tab
from pressbox.curator.reading.panes import (
    ENTRIES_SHOWN,
    Panes,
    ReaderRequest,
    add_progress,
    add_told,
    load_article,
    load_entries,
    load_sources,
    mark_opened,
    microseconds,
)
from pressbox.curator.reading.pictures import (
    LONGEST_ADDRESS,
    PICTURES_PATH,
    PictureService,
    picture_addresses,
    picture_service,
)
from pressbox.curator.reading.service import ReadingService, StateService
from pressbox.curator.reading.sidebar import SqlSidebar
from pressbox.curator.reading.wiring import reading_service, state_service

router = APIRouter(include_in_schema=False)

After = Annotated[str | None, Query(max_length=200)]
Shown = Annotated[int, Query(ge=1, le=200)]
Undo = Annotated[int | None, Query(ge=0, le=LAST_MOMENT * 1000)]
Marked = Annotated[int, Query(ge=0, le=10**9)]


def reader_request(
    request: Request,
    parts: Parts,
    reading: Annotated[ReadingService, Depends(provide(reading_service))],
    states: Annotated[StateService, Depends(provide(state_service))],
    costs: Annotated[CostService, Depends(provide(cost_service))],
    identity: Reader,
    place: Here,
) -> ReaderRequest:
    return ReaderRequest(request, parts, reading, states, SqlSidebar(parts.database), costs, identity, place)


AtReader = Annotated[ReaderRequest, Depends(reader_request)]


# Templates name kinds and orders by their values.
KINDS = {kind.value: kind for kind in ListKind}
SORTS = {sort.value: sort for sort in Sort}


def draw(reader: ReaderRequest, template: str, page: Panes) -> HTMLResponse:
    drawn = render(reader.request, template, identity=reader.identity, page=page, kinds=KINDS, sorts=SORTS)
    return allow_images(reader.request, drawn)


@router.get("/styleguide/reader")
async def styleguide(request: Request) -> HTMLResponse:
    """The reader's components in all their states. Open to anybody: it shows nothing of the instance."""
    return render(request, "curator/styleguide.html")


@router.get(PATH)
async def list_page(
    reader: AtReader, after: After = None, pane: str = "list", undo: Undo = None, marked: Marked = 0
) -> HTMLResponse:
    page = replace(await add_told(reader, await load_page(reader, after)), undo=undo, marked=marked)
    return draw(reader, "curator/reader.html", replace(page, pane="sources" if pane == "sources" else "list"))


@router.get(f"{PATH}/list")
async def list_part(reader: AtReader, shown: Shown = ENTRIES_SHOWN) -> HTMLResponse:
    """Draw the lines of a list alone."""
    page = await load_sources(reader)
    entries, problem = await load_entries(reader, page, None, shown)
    return draw(reader, "curator/_lines.html", replace(page, entries=entries, problem=problem, shown=shown))


@router.get(f"{PATH}/sources-part")
async def sources_part(reader: AtReader) -> HTMLResponse:
    """Draw the left pane alone."""
    return draw(reader, "curator/_sources.html", await load_sources(reader))


@router.get(f"{PATH}/heading")
async def heading_part(reader: AtReader) -> HTMLResponse:
    """Draw the name of the list alone: that of a new source is known only once it has been read."""
    return draw(reader, "curator/_heading.html", await load_sources(reader))


@router.get(f"{PATH}/progress")
async def progress_part(reader: AtReader) -> HTMLResponse:
    """Draw the work that runs now, alone."""
    page = await load_sources(reader)
    return draw(reader, "curator/_progress.html", await add_progress(reader, page))


@router.get(f"{PATH}/entries/{{entry_id}}")
async def entry_page(reader: AtReader, entry_id: EntryId) -> HTMLResponse:
    await mark_opened(reader, entry_id, read=is_opened(reader.request))
    page = await load_page(reader, None)
    article, related = await load_article(reader, page, entry_id)
    page = await add_tab(reader, replace(page, related=related, pane="article"), article)
    return draw(reader, "curator/reader.html", await add_passage(reader, await add_told(reader, page)))


@router.get(f"{PATH}/entries/{{entry_id}}/part")
async def entry_part(reader: AtReader, entry_id: EntryId, peek: bool = False) -> HTMLResponse:
    """Draw the article alone. With `peek` the browser only loads it ahead, and it stays unread."""
    await mark_opened(reader, entry_id, read=not peek and is_opened(reader.request))
    page = await load_sources(reader)
    article, related = await load_article(reader, page, entry_id)
    page = await add_tab(reader, replace(page, related=related), article)
    return draw(reader, "curator/_article.html", await add_passage(reader, await add_told(reader, page)))


async def load_page(reader: ReaderRequest, after: str | None) -> Panes:
    page = await load_sources(reader)
    entries, problem = await load_entries(reader, page, after, ENTRIES_SHOWN)
    return replace(await add_progress(reader, page), entries=entries, problem=problem)


def is_opened(request: Request) -> bool:
    """Whether a person opens this here: no prefetch of the browser, and no picture on another site."""
    if "prefetch" in request.headers.get("sec-purpose", ""):
        return False
    return request.headers.get("sec-fetch-site", "none") in ("same-origin", "none")


Word = Annotated[str, Form(max_length=200)]
YES_NO = {"yes": True, "no": False}


@router.post(f"{PATH}/entries/{{entry_id}}/state")
async def change_state(
    reader: AtReader, entry_id: EntryId, read: Word = "", starred: Word = "", preference: Word = ""
) -> Response:
    """Change whichever of the three a button names."""
    states = reader.states
    if read:
        await states.mark_read(reader.user_id, [entry_id], read=_yes_no(read, "read"))
    if starred:
        await states.star(reader.user_id, entry_id, starred=_yes_no(starred, "starred"))
    if preference:
        await states.prefer(reader.user_id, entry_id, _preference(preference))
    return await _respond(reader, entry_id, "curator/_acts.html")


@router.post(f"{PATH}/entries/{{entry_id}}/labels")
async def change_labels(reader: AtReader, entry_id: EntryId, add: Word = "", remove: Word = "") -> Response:
    item = await reader.reading.load_item(reader.user_id, entry_id)
    names = [label.name for label in item.labels if label.name != remove]
    if add.strip():
        names.append(add.strip())
    await reader.states.set_labels(reader.user_id, entry_id, list(dict.fromkeys(names)))
    return await _respond(reader, entry_id, "curator/_labels.html", f"#labels-{entry_id}")


@router.post(f"{PATH}/entries/{{entry_id}}/note")
async def change_note(
    reader: AtReader, entry_id: EntryId, note: Annotated[str, Form(max_length=100_000)] = ""
) -> Response:
    await reader.states.set_note(reader.user_id, entry_id, note)
    return await _respond(reader, entry_id, "curator/_labels.html", f"#labels-{entry_id}")


@router.post(f"{PATH}/entries/{{entry_id}}/again", dependencies=[Depends(spend(REFRESHES))])
async def redo(reader: AtReader, entry_id: EntryId) -> Response:
    """Fetch and distil the entry again."""
    await reader.reading.redo(reader.user_id, entry_id)
    return _redirect(f"{PATH}/entries/{entry_id}?{reader.place.query()}")


@router.post(f"{PATH}/read-all")
async def mark_all_read(reader: AtReader, until: Annotated[int, Form(ge=0, le=LAST_MOMENT)]) -> Response:
    """Mark what was there when the list was opened; the next page offers to undo it."""
    marked = await reader.states.mark_all_read(reader.user_id, reader.place.selection, until=moment(until))
    here = reader.place.query(keep_moment=False)
    undo = f"marked={marked.count}&undo={microseconds(marked.stamp)}" if marked.stamp else ""
    return _redirect(f"{PATH}?{'&'.join(part for part in (here, undo) if part)}")


@router.post(f"{PATH}/unread-all")
async def undo_all_read(reader: AtReader, mark: Annotated[int, Form(ge=0, le=LAST_MOMENT * 1000)]) -> Response:
    seconds, micros = divmod(mark, 1_000_000)
    stamp = datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=micros)
    await reader.states.undo_all_read(reader.user_id, stamp)
    return _redirect(f"{PATH}?{reader.place.query(keep_moment=False)}")


async def _respond(reader: ReaderRequest, entry_id: int, template: str, place: str = "") -> Response:
    """Respond with the changed part to our script, with the page of the article otherwise."""
    if not wants_part(reader.request):
        return _redirect(f"{PATH}/entries/{entry_id}?{reader.place.query()}{place}")
    page = await load_sources(reader)
    article = await reader.reading.load_article(reader.user_id, entry_id)
    return draw(reader, template, replace(page, article=article))


def _redirect(address: str) -> Response:
    return RedirectResponse(address, status_code=303)


def _yes_no(text: str, field: str) -> bool:
    if text not in YES_NO:
        raise InvalidInputError("This is yes or no.", field=field)
    return YES_NO[text]


def _preference(text: str) -> Preference:
    try:
        return Preference(int(text))
    except ValueError:
        raise InvalidInputError("A preference is 1, 0 or -1.", field="preference") from None


# A picture stays what it is: publishers give a new one a new address.
KEEP_HEADER = "private, max-age=2592000, immutable"
FAILURE_HEADER = "private, max-age=600"
# Even a file that a browser takes for a document can do nothing.
POLICY = "default-src 'none'; sandbox"


@router.get(f"{PICTURES_PATH}/{{signature}}/{{encoded}}")
async def picture(
    request: Request,
    _: SignedInIdentity,
    pictures: Annotated[PictureService, Depends(provide(picture_service))],
    signature: Annotated[str, Path(max_length=64)],
    encoded: Annotated[str, Path(max_length=8 * LONGEST_ADDRESS)],
) -> Response:
    settings: Settings = request.app.state.settings
    try:
        address = picture_addresses(settings).read(signature, encoded)
        found = await pictures.load(address)
    except NotFoundError:
        # Short and without a page around it: nobody looks at it.
        return Response(status_code=404, headers={"cache-control": FAILURE_HEADER})
    name = f"picture.{found.content_type.removeprefix('image/').removeprefix('x-')}"
    return Response(
        found.body,
        media_type=found.content_type,
        headers={
            "cache-control": KEEP_HEADER,
            "content-disposition": f'inline; filename="{name}"',
            "content-security-policy": POLICY,
        },
    )
