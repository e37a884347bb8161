"""The button that requests the translation of an article."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form
from fastapi.responses import RedirectResponse, Response

from pressbox.core.web.pages.access import provide
from pressbox.curator.reading.access import PATH, EntryId
from pressbox.curator.reading.pages import Asking
from pressbox.curator.reading.panes import page_language
from pressbox.curator.translate.service import TranslationService
from pressbox.curator.translate.tab import TRANSLATION_TAB
from pressbox.curator.translate.wiring import translation_service

router = APIRouter(include_in_schema=False)

Service = Annotated[TranslationService, Depends(provide(translation_service))]
Word = Annotated[str, Form(max_length=40)]


@router.post(f"{PATH}/entries/{{entry_id}}/translation")
async def translate(
    asked: Asking, service: Service, entry_id: EntryId, to: Word = "", provider: Word = "", again: Word = ""
) -> Response:
    """Have it translated, or what is missing of it; the tab shows how far it is."""
    language = service.choose_language(to, page_language(asked))
    await service.translate(asked.user_id, entry_id, language, provider=provider, again=bool(again))
    here = f"{PATH}/entries/{entry_id}?{asked.place.query()}"
    return RedirectResponse(f"{here}&tab={TRANSLATION_TAB.name}&to={language}", status_code=303)
