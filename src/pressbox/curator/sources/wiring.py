"""The pages and API of sources."""

from collections.abc import Sequence

from fastapi import APIRouter

from pressbox.curator.library.slice import Slice


def routers() -> Sequence[APIRouter]:
    from pressbox.curator.sources import add_pages, api, opml_pages, pages

    return api.router, add_pages.router, pages.router, opml_pages.router


SLICE = Slice(routers=routers)
