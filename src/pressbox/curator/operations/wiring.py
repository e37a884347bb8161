"""The page of what models cost."""

from collections.abc import Sequence

from fastapi import APIRouter

from pressbox.curator.library.slice import Slice


def routers() -> Sequence[APIRouter]:
    from pressbox.curator.operations import cost_pages

    return (cost_pages.router,)


SLICE = Slice(routers=routers)
