"""The tab "What it is about" of an article, what a reader does in it, and the pages of its cards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from babel import Locale, UnknownLocaleError
from fastapi import APIRouter, Depends, Form, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.reader import WorkReport
from pressbox.core.progress.reader import reports as load_work
from pressbox.core.progress.rows import WORKFLOW_CHANGED
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rates import spend
from pressbox.core.web.rendering import render
from pressbox.curator.cards.contracts import context_collection_workflow_id, entry_links_workflow_id
from pressbox.curator.cards.domain import BYTES_OF_ADDRESSES, MOST_LINKS_AT_ONCE, ContextView, LinkView
from pressbox.curator.cards.service import CardService
from pressbox.curator.cards.wiring import card_service
from pressbox.curator.context.contracts import context_workflow_id
from pressbox.curator.context.domain import Entity, EntityKind, Relationship
from pressbox.curator.library.quotas import ENRICHMENTS
from pressbox.curator.models.waiting import WAITING
from pressbox.curator.reading.access import LARGEST_ID, PATH, EntryId, Reader, allow_images, wants_images
from pressbox.curator.reading.domain import ArticleView
from pressbox.curator.reading.extensions import LoadedTab
from pressbox.curator.reading.pages import AtReader
from pressbox.curator.reading.panes import ReaderRequest, page_language

router = APIRouter(include_in_schema=False)

Service = Annotated[CardService, Depends(provide(card_service))]

CardId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Address = Annotated[str, Form(max_length=BYTES_OF_ADDRESSES)]
# Missing when nothing is ticked.
Addresses = Annotated[list[Address] | None, Form(max_length=MOST_LINKS_AT_ONCE * 5)]


@router.post(f"{PATH}/entries/{{entry_id}}/context", dependencies=[Depends(spend(ENRICHMENTS))])
async def collect(
    reader: AtReader, service: Service, entry_id: EntryId, again: Annotated[str, Form(max_length=5)] = ""
) -> Response:
    """Find out what the article is about; `again` also when that is known."""
    await service.collect_mine(reader.user_id, entry_id, again=bool(again))
    return _to_tab(reader, entry_id)


@router.post(f"{PATH}/entries/{{entry_id}}/links", dependencies=[Depends(spend(ENRICHMENTS))])
async def fetch_links(reader: AtReader, service: Service, entry_id: EntryId, url: Addresses = None) -> Response:
    await service.fetch_links(reader.user_id, entry_id, url or ())
    return _to_tab(reader, entry_id, "#links")


@router.post(f"{PATH}/cards/{{card_id}}/delete")
async def delete(reader: AtReader, service: Service, card_id: CardId) -> Response:
    entry_id, _ = await service.delete(reader.user_id, card_id)
    return _to_tab(reader, entry_id)


@router.get(f"{PATH}/cards/{{card_id}}")
async def card(request: Request, service: Service, identity: Reader, card_id: CardId) -> HTMLResponse:
    """A README, or the page behind a link, in the reader's own voice."""
    found = await service.page(identity.user_id, card_id)
    drawn = render(request, "curator/card.html", identity=identity, found=found, images=wants_images(request))
    return allow_images(request, drawn)


def _to_tab(reader: ReaderRequest, entry_id: int, place: str = "") -> Response:
    address = f"{PATH}/entries/{entry_id}?{reader.place.query()}&tab={CONTEXT_TAB.name}{place}"
    return RedirectResponse(address, status_code=303)


# More of them are a page of their own size; the address asks for all.
LINKS_SHOWN = 25
# Afterwards a failure is history, which the activity page tells.
FAILURES_SHOWN_FOR = timedelta(days=1)
ALL_LINKS = "all"


@dataclass(frozen=True)
class WorkStatus:
    """One piece of work on this article. `error` is set when it could not be done."""

    workflow_id: str
    running: bool
    step: str
    message: str
    error: str
    done: int
    total: int | None


@dataclass(frozen=True)
class RelationGroup:
    """What is said of one name, of all others of which the same is said."""

    source: str
    relation: str
    targets: tuple[str, ...]
    quote: str


@dataclass(frozen=True)
class ContextPanel:
    view: ContextView
    collecting: WorkStatus | None
    fetching: WorkStatus | None
    all_links: bool
    # The language of the text, as the page names it.
    language: str

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(f"{WORKFLOW_CHANGED}:{workflow_id}" for workflow_id in workflow_ids(self.view.entry_id))

    @property
    def busy(self) -> bool:
        return self.collecting is not None and self.collecting.running

    @property
    def links(self) -> Sequence[LinkView]:
        """Those that somebody had read are always there."""
        if self.all_links:
            return self.view.links
        return [link for place, link in enumerate(self.view.links) if place < LINKS_SHOWN or link.card]

    @property
    def hidden_links(self) -> int:
        return len(self.view.links) - len(self.links)

    @property
    def kinds(self) -> Mapping[EntityKind, Sequence[Entity]]:
        """In the order of kinds; what nobody could tell comes last."""
        entities = self.view.context.entities if self.view.context else ()
        found = {kind: [entity for entity in entities if entity.kind is kind] for kind in EntityKind}
        return {kind: named for kind, named in found.items() if named}

    @property
    def ties(self) -> Sequence[RelationGroup]:
        relationships = self.view.context.relationships if self.view.context else ()
        found: dict[tuple[str, str], list[Relationship]] = {}
        for one in relationships:
            found.setdefault((one.source, one.relation), []).append(one)
        return [
            RelationGroup(
                source=source,
                relation=relation,
                targets=tuple(one.target for one in same),
                quote=next((one.quote for one in same if one.quote), ""),
            )
            for (source, relation), same in found.items()
        ]


def workflow_ids(entry_id: int) -> tuple[str, str, str]:
    return (
        context_collection_workflow_id(str(entry_id)),
        entry_links_workflow_id(entry_id),
        context_workflow_id(entry_id),
    )


async def load_context(reader: ReaderRequest, article: ArticleView) -> ContextPanel:
    entry_id = article.id
    collect, fetch, extract = workflow_ids(entry_id)
    # The work first: what it has done by then is in what is read after it.
    reports = await load_work(reader.parts.database, reader.viewer, (collect, fetch, extract))
    view = await card_service(reader.parts).panel(reader.user_id, entry_id)
    since = max(datetime.now(UTC) - FAILURES_SHOWN_FOR, view.found_at or datetime.min.replace(tzinfo=UTC))
    whole, part = (_line(reports.get(workflow_id), entry_id, since) for workflow_id in (collect, extract))
    # The part knows what it waits for; the whole only knows that it waits for its part.
    collecting = part if part is not None and part.running and part.message else whole or part
    fetching = _line(reports.get(fetch), entry_id, datetime.now(UTC) - FAILURES_SHOWN_FOR)
    wants_all = reader.request.query_params.get("links") == ALL_LINKS
    return ContextPanel(view, collecting, fetching, wants_all, _language(view, page_language(reader)))


def _language(view: ContextView, shown_in: str) -> str:
    code = view.context.language if view.context else ""
    try:
        return Locale.parse(code).get_language_name(shown_in) or code if code else ""
    except (UnknownLocaleError, ValueError):
        return code


def _line(report: WorkReport | None, entry_id: int, since: datetime) -> WorkStatus | None:
    """What runs, and what failed and was not made good since."""
    if report is None:
        return None
    running = report.state is ProgressState.RUNNING
    error = "" if running else report.error or _entry_error(report, entry_id)
    if not running and (not error or report.updated_at < since):
        return None
    step = str(report.detail.get("currentStep", ""))
    message = report.message if step == WAITING else ""
    return WorkStatus(report.workflow_id, running, step, message, error, report.done, report.total)


def _entry_error(report: WorkReport, entry_id: int) -> str:
    states = report.detail.get("entryProgress")
    state = states.get(str(entry_id)) if isinstance(states, dict) else None
    return str(state.get("error", "")) if isinstance(state, dict) else ""


CONTEXT_TAB = LoadedTab(
    "enrichments",
    "What it is about",
    key="e",
    template="curator/_context.html",
    stylesheet="context.css",
    load=load_context,
    words=("links",),
)
