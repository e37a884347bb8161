"""JSON: when a person wants to know scores, and of what they looked at the score."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from pressbox.core.spoilers.choice import LONGEST_DELAY, SHORTEST_DELAY, SpoilerMode, choose
from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.core.web.identity import SignedInIdentity
from pressbox.core.web.pages.spoilers import Spoilers

router = APIRouter(prefix="/api/spoilers", tags=["spoilers"])

Subject = Annotated[str, Path(min_length=1, max_length=200)]


class SpoilerChoiceResponse(ResponseModel):
    mode: SpoilerMode
    minutes: int | None = Field(description="How much later, when the mode is delay.")


class SpoilerChoiceRequest(RequestBody):
    mode: SpoilerMode
    minutes: int | None = Field(None, ge=SHORTEST_DELAY, le=LONGEST_DELAY, description="For the mode delay.")


@router.get("", summary="When I want to know scores")
async def read_choice(spoilers: Spoilers, identity: SignedInIdentity) -> SpoilerChoiceResponse:
    choice = await spoilers.load_choice(identity.user_id)
    return SpoilerChoiceResponse(mode=choice.mode, minutes=choice.minutes)


@router.put("", summary="Show scores at once, when I look, or later", status_code=204)
async def put_choice(spoilers: Spoilers, identity: SignedInIdentity, wanted: SpoilerChoiceRequest) -> None:
    await spoilers.choose(identity.user_id, choose(wanted.mode, wanted.minutes))


@router.put("/revealed/{subject}", summary="Look at the score of something, such as footy.fixture.9", status_code=204)
async def reveal(spoilers: Spoilers, identity: SignedInIdentity, subject: Subject) -> None:
    await spoilers.reveal(identity.user_id, [subject])


@router.delete("/revealed/{subject}", summary="Hide the score of something again", status_code=204)
async def conceal(spoilers: Spoilers, identity: SignedInIdentity, subject: Subject) -> None:
    await spoilers.conceal(identity.user_id, [subject])
