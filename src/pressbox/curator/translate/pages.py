"""The button that requests the translation of an article."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from pressbox.curator.reading.access import PATH, EntryId
from pressbox.curator.reading.pages import Asking
from pressbox.curator.reading.panes import Tab
from pressbox.curator.translate.tab import page_language

router = APIRouter(include_in_schema=False)

Word = Annotated[str, Form(max_length=40)]


@router.post(f"{PATH}/entries/{{entry_id}}/translation")
async def translate(asked: Asking, entry_id: EntryId, to: Word = "", provider: Word = "", again: Word = "") -> Response:
    """Start a translation, or the rest of one; the tab shows its progress."""
    service = asked.service.translations
    language = service.choose_language(to, page_language(asked))
    await service.translate(asked.user_id, entry_id, language, provider=provider, again=bool(again))
    here = f"{PATH}/entries/{entry_id}?{asked.place.query()}"
    return RedirectResponse(f"{here}&tab={Tab.TRANSLATION}&to={language}", status_code=303)
