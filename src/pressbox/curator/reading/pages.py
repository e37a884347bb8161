"""The reader: its pages, their parts, and what people do with articles and lists."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.pages.access import Parts, provide
from pressbox.core.web.rates import spend
from pressbox.core.web.rendering import render
from pressbox.curator.library.quotas import REFRESHES
from pressbox.curator.models.costs import CostService
from pressbox.curator.models.wiring import cost_service
from pressbox.curator.reading.access import LAST_MOMENT, PATH, EntryId, Here, Reader, allow_images, moment, wants_part
from pressbox.curator.reading.domain import ListKind, Preference, Sort
from pressbox.curator.reading.panes import (
    ENTRIES_SHOWN,
    Panes,
    ReaderRequest,
    add_progress,
    add_sources,
    load_article,
    load_entries,
    mark_opened,
    microseconds,
)
from pressbox.curator.reading.passages import add_passage
from pressbox.curator.reading.service import ReadingService, StateService
from pressbox.curator.reading.sidebar import SqlSidebar
from pressbox.curator.reading.tabs import add_tab
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
    page = replace(await load_page(reader, after), undo=undo, marked=marked)
    return draw(reader, "curator/reader.html", replace(page, pane="sources" if pane == "sources" else "list"))


@router.get(f"{PATH}/list")
async def list_part(reader: AtReader, shown: Shown = ENTRIES_SHOWN) -> HTMLResponse:
    """Draw the lines of a list alone."""
    page = await add_sources(reader)
    entries, problem = await load_entries(reader, None, shown)
    return draw(reader, "curator/_lines.html", replace(page, entries=entries, problem=problem, shown=shown))


@router.get(f"{PATH}/sources-part")
async def sources_part(reader: AtReader) -> HTMLResponse:
    """Draw the left pane alone."""
    return draw(reader, "curator/_sources.html", await add_sources(reader))


@router.get(f"{PATH}/heading")
async def heading_part(reader: AtReader) -> HTMLResponse:
    """Draw the name of the list alone: that of a new source is known only once it has been read."""
    return draw(reader, "curator/_heading.html", await add_sources(reader))


@router.get(f"{PATH}/progress")
async def progress_part(reader: AtReader) -> HTMLResponse:
    """Draw the work that runs now, alone."""
    page = await add_sources(reader)
    return draw(reader, "curator/_progress.html", await add_progress(reader, page))


@router.get(f"{PATH}/entries/{{entry_id}}")
async def entry_page(reader: AtReader, entry_id: EntryId) -> HTMLResponse:
    await mark_opened(reader, entry_id, read=is_opened(reader.request))
    empty = await reader.empty_page()
    (article, related), page = await asyncio.gather(load_article(reader, entry_id), load_page(reader, None, empty))
    page = await add_tab(reader, replace(page, related=related, pane="article"), article)
    return draw(reader, "curator/reader.html", await add_passage(reader, page))


@router.get(f"{PATH}/entries/{{entry_id}}/part")
async def entry_part(reader: AtReader, entry_id: EntryId, peek: bool = False) -> HTMLResponse:
    """Draw the article alone. With `peek` the browser only loads it ahead, and it stays unread."""
    await mark_opened(reader, entry_id, read=not peek and is_opened(reader.request))
    empty = await reader.empty_page()
    (article, related), page = await asyncio.gather(load_article(reader, entry_id), add_sources(reader, empty))
    page = await add_tab(reader, replace(page, related=related), article)
    return draw(reader, "curator/_article.html", await add_passage(reader, page))


async def load_page(reader: ReaderRequest, after: str | None, page: Panes | None = None) -> Panes:
    empty = page or await reader.empty_page()
    # At the same time: most of it is waiting for the database.
    filled, (entries, problem) = await asyncio.gather(
        add_sources(reader, empty), load_entries(reader, after, ENTRIES_SHOWN)
    )
    return replace(await add_progress(reader, filled), entries=entries, problem=problem)


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
    page = await add_sources(reader)
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
