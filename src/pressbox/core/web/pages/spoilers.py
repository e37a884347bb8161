"""Looking at a score that is hidden, and hiding it again: a button on whatever covers one."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form
from starlette.responses import RedirectResponse

from pressbox.core.spoilers.choice import SEES_ALL, Sight
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.core.web.errors import safe_next
from pressbox.core.web.identity import MaybeIdentity
from pressbox.core.web.pages.access import Parts, Reader

router = APIRouter(include_in_schema=False)

Subject = Annotated[str, Form(min_length=1, max_length=200)]
Subjects = Annotated[list[Subject], Form(min_length=1, max_length=500)]
Next = Annotated[str, Form(max_length=2000)]


def _spoilers(parts: Parts) -> PersonalSpoilers:
    return PersonalSpoilers(parts.database)


Spoilers = Annotated[PersonalSpoilers, Depends(_spoilers)]


async def _sight(spoilers: Spoilers, identity: MaybeIdentity) -> Sight:
    return SEES_ALL if identity is None else await spoilers.load_sight(identity.user_id)


# What whoever asks may know of scores now; who is not signed in has chosen nothing.
VisitorSight = Annotated[Sight, Depends(_sight)]


@router.post("/spoilers/reveal")
async def reveal(spoilers: Spoilers, identity: Reader, subject: Subjects, next: Next = "") -> RedirectResponse:
    """Show the scores of these from now on, to this person."""
    await spoilers.reveal(identity.user_id, subject)
    return RedirectResponse(safe_next(next), status_code=303)


@router.post("/spoilers/conceal")
async def conceal(spoilers: Spoilers, identity: Reader, subject: Subjects, next: Next = "") -> RedirectResponse:
    await spoilers.conceal(identity.user_id, subject)
    return RedirectResponse(safe_next(next), status_code=303)
