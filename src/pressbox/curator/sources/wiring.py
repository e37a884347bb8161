"""The pages and API of sources."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.curator.library.slice import Slice

if TYPE_CHECKING:
    from fastapi import APIRouter


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.sources import add_pages, api, opml_pages, pages

    return api.router, add_pages.router, pages.router, opml_pages.router


SLICE = Slice(routers=routers)
