"""Adding a source: paste an address, see the feeds it leads to, subscribe, and land where its articles appear."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.errors import InvalidInputError, PermanentError, PressboxError, TransientError
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.curator.reading.access import PATH, Reader
from pressbox.curator.sources.domain import FoundFeedView
from pressbox.curator.sources.forms import category_of
from pressbox.curator.sources.pages import Sources
from pressbox.curator.sources.service import SourceService

router = APIRouter(include_in_schema=False)

ADD_PATH = f"{PATH}/add"
Address = Annotated[str, Query(max_length=2000)]
Text = Annotated[str, Form(max_length=2000)]


@router.get(ADD_PATH)
async def add_page(request: Request, service: Sources, identity: Reader, address: Address = "") -> HTMLResponse:
    """Without an address the empty form; with one what was found there."""
    if not address.strip():
        return await _page(request, service, identity, address)
    try:
        found = await service.discover(identity.user_id, address)
    except (InvalidInputError, PermanentError, TransientError) as error:
        return await _page(request, service, identity, address, problem=error)
    return await _page(request, service, identity, address, found=found)


@router.post(ADD_PATH)
async def add(
    request: Request,
    service: Sources,
    identity: Reader,
    url: Text,
    title: Text = "",
    category: Text = "",
    new_category: Text = "",
) -> Response:
    try:
        category_id = await category_of(service, identity, category, new_category)
        feed = await service.subscribe(identity.user_id, url, title=title, category_id=category_id)
    except InvalidInputError as error:
        return await _page(request, service, identity, url, problem=error)
    return RedirectResponse(f"{PATH}?list=feed&id={feed.id}", status_code=303)


async def _page(
    request: Request,
    service: SourceService,
    identity: Identity,
    address: str,
    *,
    found: Sequence[FoundFeedView] = (),
    problem: PressboxError | None = None,
) -> HTMLResponse:
    return render(
        request,
        "curator/add.html",
        problem.status if problem else 200,
        identity=identity,
        address=address,
        found=found,
        error=problem.message if problem else "",
        categories=(await service.sources(identity.user_id)).categories,
    )
