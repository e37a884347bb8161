"""JSON: what an entry is about, cards of its software, pages behind its links."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import Field

from pressbox.core.web.api_models import RequestBody, ResponseModel, StartedWorkflow
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rates import spend
from pressbox.curator.cards.domain import MOST_LINKS_AT_ONCE, Card, CardPage, ContextView, EnrichmentKind
from pressbox.curator.cards.service import CardService
from pressbox.curator.cards.wiring import card_service
from pressbox.curator.context.domain import ContextMethod, EntityKind
from pressbox.curator.library.quotas import ENRICHMENTS
from pressbox.curator.reading.access import EntryId, Reader

router = APIRouter(prefix="/api/curator", tags=["context"])

Service = Annotated[CardService, Depends(provide(card_service))]


class EntityResponse(ResponseModel):
    name: str
    kind: EntityKind
    description: str
    quote: str = Field(description="A passage of the entry that names it.")


class RelationshipResponse(ResponseModel):
    source: str
    target: str
    relation: str
    quote: str


class CardResponse(ResponseModel):
    id: int
    kind: EnrichmentKind
    title: str
    url: str
    facts: dict[str, object] = Field(
        description="Of a repository: stars, language, licence, topics, pushed_at and more."
    )
    reason: str = Field(description="Why it could not be read; empty when it could.")
    has_body: bool
    at: datetime

    @classmethod
    def of(cls, card: Card) -> "CardResponse":
        return cls.model_validate(card)


class LinkResponse(ResponseModel):
    url: str
    title: str
    card: CardResponse | None = Field(description="The page behind it, when somebody had it read.")


class ContextResponse(ResponseModel):
    method: ContextMethod = Field(description="offline: candidates found by rules; llm: by a model.")
    model: str
    current: bool = Field(description="Whether the text is still the one that it was made of.")
    domain: str
    content_type: str
    language: str
    entities: list[EntityResponse]
    relationships: list[RelationshipResponse]
    key_points: list[str]


class PanelResponse(ResponseModel):
    """`context` is null as long as nobody asked for it."""

    entry_id: int
    context: ContextResponse | None
    links: list[LinkResponse]
    repositories: list[CardResponse]

    @classmethod
    def of(cls, view: ContextView) -> "PanelResponse":
        context = view.context
        return cls(
            entry_id=view.entry_id,
            context=None
            if context is None
            else ContextResponse(
                method=context.method,
                model=context.model,
                current=view.current,
                domain=context.domain,
                content_type=context.content_type,
                language=context.language,
                entities=[EntityResponse.model_validate(one) for one in context.entities],
                relationships=[RelationshipResponse.model_validate(one) for one in context.relationships],
                key_points=list(context.key_points),
            ),
            links=[
                LinkResponse(url=one.url, title=one.title, card=CardResponse.of(one.card) if one.card else None)
                for one in view.links
            ],
            repositories=[CardResponse.of(card) for card in view.repositories],
        )


class CardPageResponse(ResponseModel):
    card: CardResponse
    html: str = Field(description="Sanitised.")

    @classmethod
    def of(cls, page: CardPage) -> "CardPageResponse":
        return cls(card=CardResponse.of(page.card), html=page.html)


class CollectBody(RequestBody):
    again: bool = Field(False, description="Also when the context of this text is known.")


class LinksBody(RequestBody):
    urls: Annotated[list[str], Field(min_length=1, max_length=MOST_LINKS_AT_ONCE, description="Links of the entry.")]


@router.get("/entries/{entry_id}/context", summary="What an entry is about, with its links and cards")
async def panel(service: Service, identity: Reader, entry_id: EntryId) -> PanelResponse:
    return PanelResponse.of(await service.panel(identity.user_id, entry_id))


@router.post(
    "/entries/{entry_id}/context",
    status_code=202,
    summary="Find out what an entry is about",
    dependencies=[Depends(spend(ENRICHMENTS))],
)
async def collect(service: Service, identity: Reader, entry_id: EntryId, body: CollectBody) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.collect_mine(identity.user_id, entry_id, again=body.again))


@router.post(
    "/entries/{entry_id}/links",
    status_code=202,
    summary="Read pages that an entry links to",
    dependencies=[Depends(spend(ENRICHMENTS))],
)
async def fetch_links(service: Service, identity: Reader, entry_id: EntryId, body: LinksBody) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.fetch_links(identity.user_id, entry_id, body.urls))


@router.get("/enrichments/{card_id}", summary="A card with its text")
async def card(service: Service, identity: Reader, card_id: EntryId) -> CardPageResponse:
    return CardPageResponse.of(await service.page(identity.user_id, card_id))


@router.delete("/enrichments/{card_id}", status_code=202, summary="Delete a card")
async def delete(service: Service, identity: Reader, card_id: EntryId) -> StartedWorkflow:
    _, workflow_id = await service.delete(identity.user_id, card_id)
    return StartedWorkflow(workflow_id=workflow_id)
