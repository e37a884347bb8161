"""The page of reader: what it will be for, and that it is not part of this version."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from pressbox.core.web.rendering import render
from pressbox.curator.web.access import PATH, Reader

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def index(request: Request, identity: Reader) -> HTMLResponse:
    return render(request, "curator/index.html", identity=identity)
