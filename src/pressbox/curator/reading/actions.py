"""What a reader does with articles and lists: star, read, more or less of it, label, note, all read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from pressbox.core.errors import InvalidInputError
from pressbox.curator.library.domain.views import Preference
from pressbox.curator.reading.access import PATH, EntryId, wants_part
from pressbox.curator.reading.addresses import LAST_MOMENT, moment
from pressbox.curator.reading.pages import Asking, draw
from pressbox.curator.reading.panes import Asked, mark_of, with_sources

router = APIRouter(include_in_schema=False)

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
