"""What a reader does in the tab that says what an article is about, and the pages of its cards."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.cards.domain.cards import BYTES_OF_ADDRESSES, MOST_LINKS_AT_ONCE
from pressbox.curator.cards.service import CardService
from pressbox.curator.cards.tab import CONTEXT_TAB
from pressbox.curator.cards.wiring import card_service
from pressbox.curator.reading.access import LARGEST_ID, PATH, EntryId, Reader, allow_images, wants_images
from pressbox.curator.reading.pages import Asking
from pressbox.curator.reading.panes import Asked

router = APIRouter(include_in_schema=False)

Service = Annotated[CardService, Depends(provide(card_service))]

CardId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Address = Annotated[str, Form(max_length=BYTES_OF_ADDRESSES)]
# Missing when nothing is ticked.
Addresses = Annotated[list[Address] | None, Form(max_length=MOST_LINKS_AT_ONCE * 5)]


@router.post(f"{PATH}/entries/{{entry_id}}/context")
async def collect(
    asked: Asking, service: Service, entry_id: EntryId, again: Annotated[str, Form(max_length=5)] = ""
) -> Response:
    """Find out what the article is about; `again` also when that is known."""
    await service.collect_mine(asked.user_id, entry_id, again=bool(again))
    return _to_tab(asked, entry_id)


@router.post(f"{PATH}/entries/{{entry_id}}/links")
async def fetch_links(asked: Asking, service: Service, entry_id: EntryId, url: Addresses = None) -> Response:
    await service.fetch_links(asked.user_id, entry_id, url or ())
    return _to_tab(asked, entry_id, "#links")


@router.post(f"{PATH}/cards/{{card_id}}/delete")
async def delete(asked: Asking, service: Service, card_id: CardId) -> Response:
    entry_id, _ = await service.delete(asked.user_id, card_id)
    return _to_tab(asked, entry_id)


@router.get(f"{PATH}/cards/{{card_id}}")
async def card(request: Request, service: Service, identity: Reader, card_id: CardId) -> HTMLResponse:
    """A README, or the page behind a link, in the reader's own voice."""
    found = await service.page(identity.user_id, card_id)
    drawn = render(request, "curator/card.html", identity=identity, found=found, images=wants_images(request))
    return allow_images(request, drawn)


def _to_tab(asked: Asked, entry_id: int, place: str = "") -> Response:
    address = f"{PATH}/entries/{entry_id}?{asked.place.query()}&tab={CONTEXT_TAB.name}{place}"
    return RedirectResponse(address, status_code=303)
