"""JSON: the graph of entities, and its update."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from pressbox.core.web.api_models import StartedWorkflow
from pressbox.core.web.pages.access import provide
from pressbox.curator.graph.domain import EntityView, GraphState, MentionedEntity
from pressbox.curator.graph.service import LISTED, MOST_LISTED, MOST_NEIGHBOURS, NEIGHBOURS, GraphService
from pressbox.curator.graph.wiring import graph_service
from pressbox.curator.reading.access import Reader

router = APIRouter(prefix="/api/curator/graph", tags=["graph"])

Service = Annotated[GraphService, Depends(provide(graph_service))]


@router.get("", summary="Entities by their names, or those that your latest articles name most")
async def entities(
    service: Service,
    identity: Reader,
    q: Annotated[str, Query(max_length=200, description="Words of the name.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = LISTED,
) -> Sequence[MentionedEntity]:
    return await service.entities(identity.user_id, q, limit=limit)


@router.get("/state", summary="How far the graph is")
async def state(service: Service, identity: Reader) -> GraphState:
    return await service.state(identity.user_id)


@router.post("/update", status_code=202, summary="Add what the graph lacks now")
async def update(service: Service, identity: Reader) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.update())


@router.get("/entities/{key:path}", summary="One entity with its neighbours and the articles behind them")
async def entity(
    service: Service,
    identity: Reader,
    key: str,
    neighbours: Annotated[int, Query(ge=1, le=MOST_NEIGHBOURS)] = NEIGHBOURS,
) -> EntityView:
    return await service.entity(identity.user_id, key, neighbours=neighbours)
