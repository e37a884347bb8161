"""The button that requests the translation of an article."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form
from fastapi.responses import RedirectResponse, Response

from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.reader import ActivityNode, node
from pressbox.core.web.languages import locale_of
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rates import spend
from pressbox.curator.library.quotas import ENRICHMENTS
from pressbox.curator.reading.access import PATH, EntryId
from pressbox.curator.reading.domain import ArticleView
from pressbox.curator.reading.pages import AtReader
from pressbox.curator.reading.panes import ReaderRequest, page_language
from pressbox.curator.reading.tabs import LoadedTab
from pressbox.curator.translate.contracts import Provider
from pressbox.curator.translate.domain.view import LANGUAGES, TranslationView
from pressbox.curator.translate.service import TranslationService
from pressbox.curator.translate.wiring import translation_service

router = APIRouter(include_in_schema=False)

Service = Annotated[TranslationService, Depends(provide(translation_service))]
Word = Annotated[str, Form(max_length=40)]


@router.post(f"{PATH}/entries/{{entry_id}}/translation", dependencies=[Depends(spend(ENRICHMENTS))])
async def translate(
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
