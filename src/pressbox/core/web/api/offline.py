"""What a person can read without network: their phone fetches it now and then."""

from collections.abc import Sequence
from datetime import datetime

from fastapi import APIRouter, Request
from pydantic import Field

from pressbox.core.app import AppManifest
from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.web.api_models import ResponseModel
from pressbox.core.web.identity import SignedInIdentity
from pressbox.core.web.pages.access import Parts, WorkViewer

router = APIRouter(prefix="/api", tags=["phone"])
log = get_logger(__name__)


class KeptThing(ResponseModel):
    path: str
    place: int = Field(description="Its place in the list.")
    title: str
    detail: str
    at: datetime | None
    html: str = Field(description="Sanitised.")
    entry: int | None = Field(description="Of an article: its number, to mark it by.")
    read: bool
    starred: bool


class KeptGroup(ResponseModel):
    name: str
    title: str
    path: str
    things: list[KeptThing]


class KeptOffline(ResponseModel):
    person: int
    groups: list[KeptGroup]


@router.get("/offline", summary="What can be read without network: unread articles, today's matches, own events")
async def read_offline(request: Request, parts: Parts, identity: SignedInIdentity, viewer: WorkViewer) -> KeptOffline:
    manifests: Sequence[AppManifest] = request.app.state.manifests
    groups: list[KeptGroup] = []
    for manifest in manifests:
        if manifest.offline is None or manifest.navigation is None:
            continue
        try:
            things = await manifest.offline(parts, viewer)
        except PressboxError as error:
            # One application that does not answer leaves the others standing.
            log.warning("offline_not_kept", msg="An application does not answer", error=error.message)
            continue
        kept = [KeptThing(place=place, **vars(thing)) for place, thing in enumerate(things)]
        place_of = manifest.navigation
        groups.append(KeptGroup(name=manifest.name, title=place_of.title, path=place_of.path, things=kept))
    return KeptOffline(person=identity.user_id, groups=groups)
