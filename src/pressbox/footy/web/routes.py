"""Everything that footy serves: its pages, the files of clips, and its API."""

from fastapi import APIRouter

from pressbox.footy.web import api, clips, days, follow, matches, search


def build_router() -> APIRouter:
    router = APIRouter()
    # Addresses with a fixed word come before the one that takes any day.
    for part in (api, clips, matches, follow, search, days):
        router.include_router(part.router)
    return router
