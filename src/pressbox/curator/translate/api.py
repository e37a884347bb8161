"""JSON: the translation of an entry, and requesting one."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from pressbox.core.web.api_models import RequestBody, ResponseModel, StartedWorkflow
from pressbox.core.web.identity import Identity
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rates import spend
from pressbox.curator.library.quotas import ENRICHMENTS
from pressbox.curator.reading.access import EntryId, Reader
from pressbox.curator.translate.contracts import Provider
from pressbox.curator.translate.domain.view import BlockView, TranslationStatus, TranslationView, view_blocks
from pressbox.curator.translate.service import TranslationService
from pressbox.curator.translate.wiring import translation_service

router = APIRouter(prefix="/api/curator", tags=["entries"])

Service = Annotated[TranslationService, Depends(provide(translation_service))]

Language = Annotated[str, Query(max_length=10, description="Such as de; otherwise that of the settings, or en.")]


class TranslationResponse(ResponseModel):
    entry_id: int
    language: str
    state: TranslationStatus
    provider: str
    model: str
    at: datetime | None
    title: str
    summary: str
    html: str = Field(description="The article in the other language; what was not translated is in its own.")
    blocks: list[BlockView]

    @classmethod
    def of(cls, entry_id: int, view: TranslationView) -> "TranslationResponse":
        return cls(
            entry_id=entry_id,
            language=view.language,
            state=view.state,
            provider=view.provider,
            model=view.model,
            at=view.at,
            title=view.translated_title,
            summary=view.translated_summary,
            html=view.translated_html(),
            blocks=list(view_blocks(view)),
        )


class TranslationBody(RequestBody):
    language: str = Field("", max_length=10, description="Such as de; otherwise that of the settings, or en.")
    provider: Provider | None = Field(None, description="Otherwise that of the settings.")
    again: bool = Field(False, description="Ask once more for what was not translated.")


@router.get("/entries/{entry_id}/translation", summary="The translation of an entry, as far as there is one")
async def translation(
    service: Service, identity: Reader, entry_id: EntryId, language: Language = ""
) -> TranslationResponse:
    wanted = service.choose_language(language, _page_language(identity))
    return TranslationResponse.of(entry_id, await service.view_entry(identity.user_id, entry_id, wanted))


@router.post(
    "/entries/{entry_id}/translation",
    status_code=202,
    summary="Translate an entry",
    dependencies=[Depends(spend(ENRICHMENTS))],
)
async def translate(service: Service, identity: Reader, entry_id: EntryId, body: TranslationBody) -> StartedWorkflow:
    language = service.choose_language(body.language, _page_language(identity))
    started = await service.translate(
        identity.user_id, entry_id, language, provider=body.provider or "", again=body.again
    )
    return StartedWorkflow(workflow_id=started)


def _page_language(identity: Identity) -> str:
    """The language that the person chose for their pages, or none."""
    return identity.language or ""
