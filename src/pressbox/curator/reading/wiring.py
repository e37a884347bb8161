"""The pages, API and live topic of reading."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.curator.library.domain.changes import PERSON_CHANGED
from pressbox.curator.library.slice import Slice, change_topic

if TYPE_CHECKING:
    from fastapi import APIRouter


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.reading import actions, api, pages

    return api.router, pages.router, actions.router


# Who reads what is private: a person's own topic has to be named.
SLICE = Slice(topics=(change_topic(PERSON_CHANGED, by_name=True),), routers=routers)
