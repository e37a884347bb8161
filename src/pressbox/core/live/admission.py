"""Who may hear of which thing: the audiences of topics, and what of a message somebody gets."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from pressbox.core.app import FindAudiences, LiveTopic
from pressbox.core.audiences.contracts import Audience
from pressbox.core.audiences.members import Members, Viewer
from pressbox.core.db.database import UnitOfWork
from pressbox.core.live.messages import Message

# Whatever fits the column; anything else is no id of ours.
_ID = re.compile(r"[0-9]{1,18}")


def audiences_by_id(kind: str) -> FindAudiences:
    """For a topic whose keys are the ids of audiences of one kind."""

    async def find(_: UnitOfWork, keys: Collection[str]) -> Mapping[str, Audience]:
        return {key: Audience(kind=kind, id=int(key)) for key in keys if _ID.fullmatch(key)}

    return find


async def find_audiences(work: UnitOfWork, topic: LiveTopic, keys: Collection[str]) -> Mapping[str, Audience]:
    """Who may hear of these things. What is not known is left out: it is for nobody."""
    if isinstance(topic.audience, Audience):
        return dict.fromkeys(keys, topic.audience)
    return await topic.audience(work, keys)


def shown_to(viewer: Viewer, message: Message, members: Members) -> Message | None:
    """The message as this person may have it, or None."""
    if members.include(message.audience, viewer):
        return message
    if message.outline is not None and viewer.sees_outline_of(message.audience):
        return replace(message, wire=message.outline)
    return None
