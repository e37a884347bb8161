"""The page of matches: what it will be for, and that it is not part of this version."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from pressbox.core.web.identity import Identity, signed_in
from pressbox.core.web.rendering import render

PATH = "/matches"

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def index(request: Request, identity: Annotated[Identity, Depends(signed_in)]) -> HTMLResponse:
    return render(request, "footy/index.html", identity=identity)
