"""The graph of entities as pages and as JSON: what is named most, and one entity with its neighbours as a picture."""

import re
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Annotated
from urllib.parse import quote as quoted

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.app import Resources
from pressbox.core.web.api_models import StartedWorkflow
from pressbox.core.web.pages.access import Parts, provide
from pressbox.core.web.rendering import render
from pressbox.curator.graph.domain import EntityView, GraphState, MentionedEntity, drawn, legend
from pressbox.curator.graph.service import LISTED, MOST_LISTED, MOST_NEIGHBOURS, NEIGHBOURS, GraphService
from pressbox.curator.graph.wiring import graph_service
from pressbox.curator.library.domain import GRAPH_CHANGED
from pressbox.curator.reading.access import PATH, Reader, cursor
from pressbox.curator.settings import CuratorSettings

router = APIRouter(include_in_schema=False)

Service = Annotated[GraphService, Depends(provide(graph_service))]

GRAPH_PATH = f"{PATH}/graph"
FOLLOW = f"{GRAPH_CHANGED}:graph"
Words = Annotated[str, Query(max_length=200)]
Neighbours = Annotated[int, Query(ge=1, le=MOST_NEIGHBOURS)]
# A quote is found in the article by its beginning and its end.
WHOLE_WORDS = 12
END_WORDS = 5


@router.get(GRAPH_PATH)
async def graph_page(
    request: Request, parts: Parts, service: Service, identity: Reader, q: Words = "", started: bool = False
) -> HTMLResponse:
    at = await cursor(request)
    words = " ".join(q.split())
    return render(
        request,
        "curator/graph.html",
        identity=identity,
        entities=await service.entities(identity.user_id, words),
        state=await service.state(identity.user_id),
        words=words,
        started=started,
        every=_every(parts),
        cursor=at,
        follow=FOLLOW,
        address=entity_address,
    )


@router.post(f"{GRAPH_PATH}/update")
async def update_now(service: Service, identity: Reader) -> Response:
    """Add to the graph what it lacks, now."""
    await service.update()
    return RedirectResponse(f"{GRAPH_PATH}?started=1", status_code=303)


@router.get(f"{GRAPH_PATH}/{{key:path}}")
async def entity_page(
    request: Request, service: Service, identity: Reader, key: str, neighbours: Neighbours = NEIGHBOURS
) -> HTMLResponse:
    entity = await service.entity(identity.user_id, key, neighbours=neighbours)
    here = entity_address(entity.key)
    return render(
        request,
        "curator/entity.html",
        identity=identity,
        entity=entity,
        draw=partial(drawn, entity),
        legend=legend(entity),
        more=f"{here}?neighbours={min(neighbours + NEIGHBOURS, MOST_NEIGHBOURS)}#picture"
        if entity.more and neighbours < MOST_NEIGHBOURS
        else "",
        fewer=f"{here}?neighbours={max(neighbours - NEIGHBOURS, NEIGHBOURS)}#picture"
        if neighbours > NEIGHBOURS
        else "",
        address=entity_address,
        passage=passage_address,
    )


def entity_address(key: str) -> str:
    return f"{GRAPH_PATH}/{quoted(key, safe='')}"


def passage_address(entry_id: int, quote: str) -> str:
    """The article, where it says so: browsers find a text by its first and last words, and mark it."""
    words = re.sub(r"\s+", " ", quote.strip(" …")).split(" ")
    page = f"{PATH}/entries/{entry_id}?list=all"
    if not any(words):
        return page
    if len(words) <= WHOLE_WORDS:
        return f"{page}#:~:text={_fragment(words)}"
    return f"{page}#:~:text={_fragment(words[:END_WORDS])},{_fragment(words[-END_WORDS:])}"


def _fragment(words: list[str]) -> str:
    # A dash and a comma have a meaning of their own there.
    return quoted(" ".join(words), safe="").replace("-", "%2D")


def _every(parts: Resources) -> timedelta:
    settings = parts.settings.group(CuratorSettings)
    return timedelta(minutes=settings.graph_minutes / settings.speed)


api = APIRouter(prefix="/api/curator/graph", tags=["graph"])


@api.get("", summary="Entities by their names, or those that your latest articles name most")
async def entities(
    service: Service,
    identity: Reader,
    q: Annotated[str, Query(max_length=200, description="Words of the name.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = LISTED,
) -> Sequence[MentionedEntity]:
    return await service.entities(identity.user_id, q, limit=limit)


@api.get("/state", summary="How far the graph is")
async def state(service: Service, identity: Reader) -> GraphState:
    return await service.state(identity.user_id)


@api.post("/update", status_code=202, summary="Add what the graph lacks now")
async def update(service: Service, identity: Reader) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.update())


@api.get("/entities/{key:path}", summary="One entity with its neighbours and the articles behind them")
async def entity(
    service: Service,
    identity: Reader,
    key: str,
    neighbours: Annotated[int, Query(ge=1, le=MOST_NEIGHBOURS)] = NEIGHBOURS,
) -> EntityView:
    return await service.entity(identity.user_id, key, neighbours=neighbours)
