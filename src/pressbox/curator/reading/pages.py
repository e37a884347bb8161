"""The reader: its pages, their parts, and what people do with articles and lists."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.pages.access import Parts, provide
from pressbox.core.web.rendering import render
from pressbox.curator.models.costs import CostService
from pressbox.curator.models.wiring import cost_service
from pressbox.curator.reading.access import LAST_MOMENT, PATH, EntryId, Here, Reader, allow_images, moment, wants_part
from pressbox.curator.reading.domain import ListKind, Preference, Sort
from pressbox.curator.reading.panes import (
    ENTRIES_SHOWN,
    Asked,
    Panes,
    mark_of,
    mark_opened,
    with_article,
    with_entries,
    with_sources,
    with_works,
)
from pressbox.curator.reading.passages import with_passage
from pressbox.curator.reading.service import ReadingService, StateService
from pressbox.curator.reading.sidebar import SqlSidebar
from pressbox.curator.reading.tabs import with_tab
from pressbox.curator.reading.wiring import reading_service, state_service

router = APIRouter(include_in_schema=False)

After = Annotated[str | None, Query(max_length=200)]
Shown = Annotated[int, Query(ge=1, le=200)]
Undo = Annotated[int | None, Query(ge=0, le=LAST_MOMENT * 1000)]
Marked = Annotated[int, Query(ge=0, le=10**9)]


def asked(
    request: Request,
    parts: Parts,
    reading: Annotated[ReadingService, Depends(provide(reading_service))],
    states: Annotated[StateService, Depends(provide(state_service))],
    costs: Annotated[CostService, Depends(provide(cost_service))],
    identity: Reader,
    place: Here,
) -> Asked:
    return Asked(request, parts, reading, states, SqlSidebar(parts.database), costs, identity, place)


Asking = Annotated[Asked, Depends(asked)]


# Templates name kinds and orders by their words.
KINDS = {kind.value: kind for kind in ListKind}
SORTS = {sort.value: sort for sort in Sort}


def draw(asked: Asked, template: str, page: Panes) -> HTMLResponse:
    drawn = render(asked.request, template, identity=asked.identity, page=page, kinds=KINDS, sorts=SORTS)
    return allow_images(asked.request, drawn)


@router.get("/styleguide/reader")
async def styleguide(request: Request) -> HTMLResponse:
    """The reader's components in all their states. Open to anybody: it shows nothing of the instance."""
    return render(request, "curator/styleguide.html")


@router.get(PATH)
async def list_page(
    asked: Asking, after: After = None, pane: str = "list", undo: Undo = None, marked: Marked = 0
) -> HTMLResponse:
    page = replace(await whole(asked, after), undo=undo, marked=marked)
    return draw(asked, "curator/reader.html", replace(page, pane="sources" if pane == "sources" else "list"))


@router.get(f"{PATH}/list")
async def list_part(asked: Asking, shown: Shown = ENTRIES_SHOWN) -> HTMLResponse:
    """The lines of a list alone."""
    page = await with_sources(asked)
    entries, problem = await with_entries(asked, None, shown)
    return draw(asked, "curator/_lines.html", replace(page, entries=entries, problem=problem, shown=shown))


@router.get(f"{PATH}/sources-part")
async def sources_part(asked: Asking) -> HTMLResponse:
    """The left pane alone."""
    return draw(asked, "curator/_sources.html", await with_sources(asked))


@router.get(f"{PATH}/heading")
async def heading_part(asked: Asking) -> HTMLResponse:
    """What the list is called, alone: a new source tells its name only when it has been read."""
    return draw(asked, "curator/_heading.html", await with_sources(asked))


@router.get(f"{PATH}/progress")
async def progress_part(asked: Asking) -> HTMLResponse:
    """What runs now, alone."""
    page = await with_sources(asked)
    return draw(asked, "curator/_progress.html", await with_works(asked, page))


@router.get(f"{PATH}/entries/{{entry_id}}")
async def entry_page(asked: Asking, entry_id: EntryId) -> HTMLResponse:
    await mark_opened(asked, entry_id, read=is_opened(asked.request))
    begun = await asked.blank()
    (article, related), page = await asyncio.gather(with_article(asked, entry_id), whole(asked, None, begun))
    page = await with_tab(asked, replace(page, related=related, pane="article"), article)
    return draw(asked, "curator/reader.html", await with_passage(asked, page))


@router.get(f"{PATH}/entries/{{entry_id}}/part")
async def entry_part(asked: Asking, entry_id: EntryId, peek: bool = False) -> HTMLResponse:
    """The article alone. With `peek` somebody only prepares for it, and it stays unread."""
    await mark_opened(asked, entry_id, read=not peek and is_opened(asked.request))
    begun = await asked.blank()
    (article, related), page = await asyncio.gather(with_article(asked, entry_id), with_sources(asked, begun))
    page = await with_tab(asked, replace(page, related=related), article)
    return draw(asked, "curator/_article.html", await with_passage(asked, page))


async def whole(asked: Asked, after: str | None, page: Panes | None = None) -> Panes:
    begun = page or await asked.blank()
    # Side by side: much of the time is waiting for the database.
    filled, (entries, problem) = await asyncio.gather(
        with_sources(asked, begun), with_entries(asked, after, ENTRIES_SHOWN)
    )
    return replace(await with_works(asked, filled), entries=entries, problem=problem)


def is_opened(request: Request) -> bool:
    """Whether a person opens this here: not a browser that prepares for it, and not a picture on another site."""
    if "prefetch" in request.headers.get("sec-purpose", ""):
        return False
    return request.headers.get("sec-fetch-site", "none") in ("same-origin", "none")


Word = Annotated[str, Form(max_length=200)]
YES_NO = {"yes": True, "no": False}


@router.post(f"{PATH}/entries/{{entry_id}}/state")
async def change_state(
    asked: Asking, entry_id: EntryId, read: Word = "", starred: Word = "", preference: Word = ""
) -> Response:
    """Whichever of the three a button names."""
    states = asked.states
    if read:
        await states.mark_read(asked.user_id, [entry_id], read=_yes_no(read, "read"))
    if starred:
        await states.star(asked.user_id, entry_id, starred=_yes_no(starred, "starred"))
    if preference:
        await states.prefer(asked.user_id, entry_id, _preference(preference))
    return await _answer(asked, entry_id, "curator/_acts.html")


@router.post(f"{PATH}/entries/{{entry_id}}/labels")
async def change_labels(asked: Asking, entry_id: EntryId, add: Word = "", remove: Word = "") -> Response:
    item = await asked.reading.item(asked.user_id, entry_id)
    names = [label.name for label in item.labels if label.name != remove]
    if add.strip():
        names.append(add.strip())
    await asked.states.put_labels(asked.user_id, entry_id, list(dict.fromkeys(names)))
    return await _answer(asked, entry_id, "curator/_labels.html", f"#labels-{entry_id}")


@router.post(f"{PATH}/entries/{{entry_id}}/note")
async def change_note(
    asked: Asking, entry_id: EntryId, note: Annotated[str, Form(max_length=100_000)] = ""
) -> Response:
    await asked.states.note(asked.user_id, entry_id, note)
    return await _answer(asked, entry_id, "curator/_labels.html", f"#labels-{entry_id}")


@router.post(f"{PATH}/entries/{{entry_id}}/again")
async def again(asked: Asking, entry_id: EntryId) -> Response:
    """Fetch and distil once more."""
    await asked.reading.redo(asked.user_id, entry_id)
    return _to(f"{PATH}/entries/{entry_id}?{asked.place.query()}")


@router.post(f"{PATH}/read-all")
async def read_all(asked: Asking, until: Annotated[int, Form(ge=0, le=LAST_MOMENT)]) -> Response:
    """What was there when the list was opened; the page afterwards offers to take it back."""
    marked = await asked.states.mark_all_read(asked.user_id, asked.place.selection, until=moment(until))
    here = asked.place.query(keeping_moment=False)
    undo = f"marked={marked.count}&undo={mark_of(marked.stamp)}" if marked.stamp else ""
    return _to(f"{PATH}?{'&'.join(part for part in (here, undo) if part)}")


@router.post(f"{PATH}/unread-all")
async def unread_all(asked: Asking, mark: Annotated[int, Form(ge=0, le=LAST_MOMENT * 1000)]) -> Response:
    seconds, micros = divmod(mark, 1_000_000)
    stamp = datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=micros)
    await asked.states.undo_all_read(asked.user_id, stamp)
    return _to(f"{PATH}?{asked.place.query(keeping_moment=False)}")


async def _answer(asked: Asked, entry_id: int, template: str, place: str = "") -> Response:
    """The changed part for our script, the page of the article for everybody else."""
    if not wants_part(asked.request):
        return _to(f"{PATH}/entries/{entry_id}?{asked.place.query()}{place}")
    page = await with_sources(asked)
    article = await asked.reading.article(asked.user_id, entry_id)
    return draw(asked, template, replace(page, article=article))


def _to(address: str) -> Response:
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
