"""Everything that footy serves: its pages, the files of clips, and its API."""

from fastapi import APIRouter

from pressbox.core.web.joining import join_routers
from pressbox.footy.web import api, clips, days, follow, matches, search, teams


def build_router() -> APIRouter:
    # Addresses with a fixed word come before the one that takes any day.
    return join_routers(*(part.router for part in (api, clips, matches, teams, follow, search, days)))
