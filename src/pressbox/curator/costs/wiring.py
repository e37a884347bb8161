"""What models cost: the page and the API."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.curator.library.slice import Slice

if TYPE_CHECKING:
    from fastapi import APIRouter


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.costs import pages

    return (pages.router,)


SLICE = Slice(routers=routers)
