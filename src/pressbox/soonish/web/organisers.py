"""Follow the organiser of an event from its page."""

from fastapi import APIRouter
from fastapi.responses import Response

from pressbox.core.web.identity import SignedInIdentity
from pressbox.soonish.ids import PATH
from pressbox.soonish.web.access import Service, redirect

router = APIRouter(include_in_schema=False)


@router.post(f"{PATH}/{{slug}}/organiser/follow")
async def follow(service: Service, identity: SignedInIdentity, slug: str) -> Response:
    await service.organisers.follow(identity.user_id, slug)
    return redirect(f"{PATH}/{slug}#organiser")


@router.post(f"{PATH}/{{slug}}/organiser/unfollow")
async def unfollow(service: Service, identity: SignedInIdentity, slug: str) -> Response:
    await service.organisers.unfollow(identity.user_id, slug)
    return redirect(f"{PATH}/{slug}#organiser")
