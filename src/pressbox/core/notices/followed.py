"""What an application tells a person of by name, beside what they follow: an event that they subscribed to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pressbox.core.app import AppManifest, Resources


@dataclass(frozen=True)
class FollowedThing:
    """A line of the page of what somebody follows; `why` says in a sentence why they are told of it.

    A form that is sent to `mute_path`, `unmute_path` or `leave_path` names the page to show afterwards as `next`. What
    cannot be muted has none of these, and `edit_path` leads to where it is chosen. What `comes_with` something else
    ends with it; what is `over` has nothing more to say.
    """

    subject: str
    name: str
    path: str
    why: str
    edit_path: str
    muted: bool = False
    mute_path: str = ""
    unmute_path: str = ""
    leave_path: str = ""
    at: datetime | None = None
    zone: str = ""
    comes_with: bool = False
    over: bool = False


# What somebody is told of by name; of these subjects also what is over, otherwise all that has something to say.
ListFollowed = Callable[["Resources", int, "Collection[str] | None"], Awaitable[Sequence[FollowedThing]]]


async def list_followed(
    manifests: Iterable[AppManifest], resources: Resources, user_id: int, subjects: Collection[str] | None = None
) -> Sequence[FollowedThing]:
    """In the order of the applications, each in its own order."""
    if subjects is not None and not subjects:
        return ()
    asked = [manifest.followed for manifest in manifests if manifest.followed is not None]
    return [thing for ask in asked for thing in await ask(resources, user_id, subjects)]
