"""JSON: the graph of entities, and its update."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from pressbox.core.web.api_models import ResponseModel
from pressbox.curator.context.domain.context import EntityKind
from pressbox.curator.graph.service import LISTED, MOST_LISTED, MOST_NEIGHBOURS, NEIGHBOURS
from pressbox.curator.reading.access import Reader, Service
from pressbox.curator.reading.api_models import StartedAnswer

router = APIRouter(prefix="/api/curator/graph", tags=["graph"])


class MentionedAnswer(ResponseModel):
    key: str
    name: str
    kind: EntityKind
    entries: int = Field(description="How many of your articles name it; without words, of the latest.")


class EvidenceAnswer(ResponseModel):
    """An article that says so."""

    entry_id: int
    title: str
    feed_title: str
    published_at: datetime
    quote: str


class RelationAnswer(ResponseModel):
    word: str = Field(description="Empty: both are only named together.")
    outgoing: bool = Field(description="From the entity to its neighbour.")
    entries: int
    evidence: list[EvidenceAnswer]


class NeighbourAnswer(ResponseModel):
    key: str
    name: str
    kind: EntityKind
    relations: list[RelationAnswer]


class EntityAnswer(ResponseModel):
    """An entity of your articles, its neighbours, and who says so."""

    key: str
    name: str
    kind: EntityKind
    descriptions: list[str]
    entries: int
    evidence: list[EvidenceAnswer] = Field(description="The newest.")
    neighbours: list[NeighbourAnswer]
    among: list[tuple[str, str]] = Field(description="Keys of neighbours that are related to each other.")
    more: bool = Field(description="There are more neighbours.")


class FailureAnswer(ResponseModel):
    entry_id: int
    title: str
    reason: str


class GraphStateAnswer(ResponseModel):
    """How far the graph is, over your articles."""

    entries: int
    waiting: int
    added_at: datetime | None
    rebuilding: bool
    failures: list[FailureAnswer]


@router.get("", summary="Entities by their names, or those that your latest articles name most")
async def entities(
    service: Service,
    identity: Reader,
    q: Annotated[str, Query(max_length=200, description="Words of the name.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = LISTED,
) -> list[MentionedAnswer]:
    found = await service.graph.entities(identity.user_id, q, limit=limit)
    return [MentionedAnswer.model_validate(one) for one in found]


@router.get("/state", summary="How far the graph is")
async def state(service: Service, identity: Reader) -> GraphStateAnswer:
    return GraphStateAnswer.model_validate(await service.graph.state(identity.user_id))


@router.post("/update", status_code=202, summary="Add what the graph lacks now")
async def update(service: Service, identity: Reader) -> StartedAnswer:
    return StartedAnswer(workflow_id=await service.graph.update())


@router.get("/entities/{key:path}", summary="One entity with its neighbours and the articles behind them")
async def entity(
    service: Service,
    identity: Reader,
    key: str,
    neighbours: Annotated[int, Query(ge=1, le=MOST_NEIGHBOURS)] = NEIGHBOURS,
) -> EntityAnswer:
    return EntityAnswer.model_validate(await service.graph.entity(identity.user_id, key, neighbours=neighbours))
