"""What a slice adds to the application: the manifest loops over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pressbox.core.app import (
    ActivitiesByQueue,
    FindAudiences,
    LiveTopic,
    Resources,
    load_nothing,
)

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.audiences.contracts import Audience
    from pressbox.core.audiences.members import AudienceKind


@dataclass(frozen=True)
class Slice:
    """The parts of one feature that Temporal and the web need to know.

    `routers` is called when the web starts: a worker imports no pages.
    """

    workflows: tuple[type, ...] = ()
    activities: Callable[[Resources], ActivitiesByQueue] = lambda _: {}
    topics: tuple[LiveTopic, ...] = ()
    audiences: tuple[AudienceKind, ...] = ()
    routers: Callable[[], Sequence[APIRouter]] = lambda: ()


def change_topic(kind: str, audience: Audience | FindAudiences, *, by_name: bool = False) -> LiveTopic:
    """Return a topic that says that something changed and never what: pages ask again for their part.

    What belongs to one person has to be named by whoever follows it.
    """
    return LiveTopic(kind, load_nothing, audience, by_name=by_name)
