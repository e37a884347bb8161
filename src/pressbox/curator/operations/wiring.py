"""The page of what models cost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.curator.library.slice import Slice

if TYPE_CHECKING:
    from fastapi import APIRouter


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.operations import cost_pages

    return (cost_pages.router,)


SLICE = Slice(routers=routers)
