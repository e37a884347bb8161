"""The button that requests the translation of an article, the tab that shows it, and the same as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import RedirectResponse, Response
from pydantic import Field

from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.reader import ActivityNode, node
from pressbox.core.web.api_models import RequestBody, ResponseModel, StartedWorkflow
from pressbox.core.web.identity import Identity
from pressbox.core.web.languages import locale_of
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rates import spend
from pressbox.curator.library.quotas import ENRICHMENTS
from pressbox.curator.reading.access import PATH, EntryId, Reader
from pressbox.curator.reading.domain import ArticleView
from pressbox.curator.reading.extensions import LoadedTab
from pressbox.curator.reading.pages import AtReader
from pressbox.curator.reading.panes import ReaderRequest, page_language
from pressbox.curator.translate.contracts import Provider
from pressbox.curator.translate.domain import LANGUAGES, BlockView, TranslationStatus, TranslationView, view_blocks
from pressbox.curator.translate.service import TranslationService
from pressbox.curator.translate.wiring import translation_service

router = APIRouter(include_in_schema=False)

Service = Annotated[TranslationService, Depends(provide(translation_service))]
Word = Annotated[str, Form(max_length=40)]


@router.post(f"{PATH}/entries/{{entry_id}}/translation", dependencies=[Depends(spend(ENRICHMENTS))])
async def request_translation(
    reader: AtReader, service: Service, entry_id: EntryId, to: Word = "", provider: Word = "", again: Word = ""
) -> Response:
    """Have it translated, or what is missing of it; the tab shows how far it is."""
    language = service.choose_language(to, page_language(reader))
    await service.translate(reader.user_id, entry_id, language, provider=provider, again=bool(again))
    here = f"{PATH}/entries/{entry_id}?{reader.place.query()}"
    return RedirectResponse(f"{here}&tab={TRANSLATION_TAB.name}&to={language}", status_code=303)


ONLY = "translation"


@dataclass(frozen=True)
class LanguageName:
    code: str
    name: str


@dataclass(frozen=True)
class TranslationTab:
    """`work` is the workflow that runs or failed. `only` shows the translation without the original."""

    view: TranslationView
    language: LanguageName
    languages: Sequence[LanguageName]
    providers: Sequence[Provider]
    work: ActivityNode | None
    workflow_id: str
    only: bool
    article_language: str = ""

    @property
    def is_its_own(self) -> bool:
        """True when the article is already in this language, as far as is known."""
        return self.article_language == self.language.code

    @property
    def running(self) -> bool:
        return self.work is not None and self.work.state is ProgressState.RUNNING

    @property
    def failed(self) -> bool:
        return self.work is not None and self.work.state is ProgressState.FAILED

    @property
    def topics(self) -> Sequence[str]:
        return (f"workflow:{self.workflow_id}",)


async def load_translation(reader: ReaderRequest, article: ArticleView) -> TranslationTab:
    service, given = translation_service(reader.parts), reader.request.query_params
    language = service.choose_language(given.get("to", ""), page_language(reader))
    workflow_id = service.workflow_id(article.id, language)
    names = language_names(page_language(reader))
    return TranslationTab(
        view=await service.view_article(article, language),
        language=next(one for one in names if one.code == language),
        languages=names,
        providers=service.providers,
        work=await node(reader.parts.database, reader.viewer, workflow_id),
        workflow_id=workflow_id,
        only=given.get("show", "") == ONLY,
        article_language=article.language.lower().split("-")[0],
    )


def language_names(page_language: str) -> Sequence[LanguageName]:
    """Return all languages with their names in the language of the page, sorted by name."""
    known = locale_of(page_language).languages
    return sorted((LanguageName(code, known.get(code, code)) for code in LANGUAGES), key=lambda one: one.name)


TRANSLATION_TAB = LoadedTab(
    "translation",
    "Translation",
    key="t",
    template="curator/_translation.html",
    stylesheet="translation.css",
    load=load_translation,
    words=("to", "show"),
)


api = APIRouter(prefix="/api/curator", tags=["entries"])


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


@api.get("/entries/{entry_id}/translation", summary="The translation of an entry, as far as there is one")
async def translation(
    service: Service, identity: Reader, entry_id: EntryId, language: Language = ""
) -> TranslationResponse:
    wanted = service.choose_language(language, _page_language(identity))
    return TranslationResponse.of(entry_id, await service.view_entry(identity.user_id, entry_id, wanted))


@api.post(
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
