"""JSON: the translation of an entry, and asking for one."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.core.web.identity import Identity
from pressbox.curator.reading.access import EntryId, Reader, Service
from pressbox.curator.reading.api_models import StartedAnswer
from pressbox.curator.translate.contracts import Provider
from pressbox.curator.translate.domain.article_blocks import BlockKind
from pressbox.curator.translate.domain.segments import Why
from pressbox.curator.translate.domain.view import Standing, TranslationView, block_views

router = APIRouter(prefix="/api/curator", tags=["entries"])

Language = Annotated[str, Query(max_length=10, description="Such as de; otherwise that of the settings, or en.")]


class BlockAnswer(ResponseModel):
    kind: BlockKind
    original: str = Field(description="HTML of the article.")
    translation: str = Field(description="The same in the other language; empty when it was not translated.")
    why: Why | None = Field(description="Why it was not translated.")


class TranslationAnswer(ResponseModel):
    entry_id: int
    language: str
    state: Standing
    provider: str
    model: str
    at: datetime | None
    title: str
    summary: str
    html: str = Field(description="The article in the other language; what was not translated is in its own.")
    blocks: list[BlockAnswer]

    @classmethod
    def of(cls, entry_id: int, view: TranslationView) -> "TranslationAnswer":
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
            blocks=[
                BlockAnswer(kind=one.kind, original=one.original, translation=one.translation, why=one.why)
                for one in block_views(view)
            ],
        )


class TranslationBody(RequestBody):
    language: str = Field("", max_length=10, description="Such as de; otherwise that of the settings, or en.")
    provider: Provider | None = Field(None, description="Otherwise that of the settings.")
    again: bool = Field(False, description="Ask once more for what was not translated.")


@router.get("/entries/{entry_id}/translation", summary="The translation of an entry, as far as there is one")
async def translation(
    service: Service, identity: Reader, entry_id: EntryId, language: Language = ""
) -> TranslationAnswer:
    wanted = service.translations.language(language, _pages_of(identity))
    return TranslationAnswer.of(entry_id, await service.translations.of_entry(identity.user_id, entry_id, wanted))


@router.post("/entries/{entry_id}/translation", status_code=202, summary="Translate an entry")
async def translate(service: Service, identity: Reader, entry_id: EntryId, body: TranslationBody) -> StartedAnswer:
    language, provider = service.translations.language(body.language, _pages_of(identity)), body.provider or ""
    started = await service.translations.translate(
        identity.user_id, entry_id, language, provider=provider, again=body.again
    )
    return StartedAnswer(workflow_id=started)


def _pages_of(identity: Identity) -> str:
    """The language that the person chose for their pages, if they did."""
    return identity.language or ""
