"""Why a line is in the inbox, and what mutes it: a follow, or something that an application tells of by name."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pressbox.core.app import AppManifest, Resources
from pressbox.core.notices.followed import FollowedThing, list_followed
from pressbox.core.notices.follows import Follow

MUTE_PATH = "/follows/mute"


@dataclass(frozen=True)
class Reason:
    """`why` is a sentence; without one it is there because the person follows it.

    What has no `mute_path` cannot be muted: `edit_path` leads to where it is chosen.
    """

    subject: str
    name: str
    muted: bool
    why: str = ""
    mute_path: str = ""
    unmute_path: str = ""
    edit_path: str = ""


async def find_reasons(
    manifests: Iterable[AppManifest],
    resources: Resources,
    user_id: int,
    follows: Sequence[Follow],
    subjects: Collection[str],
) -> Mapping[str, Reason]:
    """By the subject because of which somebody was told; of what they left there is none."""
    known = {follow.subject: _of_follow(follow) for follow in follows if follow.subject in subjects}
    named = await list_followed(manifests, resources, user_id, sorted(set(subjects) - set(known)))
    return known | {thing.subject: _of_thing(thing) for thing in named}


def _of_follow(follow: Follow) -> Reason:
    return Reason(follow.subject, follow.name, follow.muted, mute_path=MUTE_PATH, unmute_path=MUTE_PATH)


def _of_thing(thing: FollowedThing) -> Reason:
    return Reason(
        subject=thing.subject,
        name=thing.name,
        muted=thing.muted,
        why=thing.why,
        # What is over is silent by itself.
        mute_path="" if thing.over else thing.mute_path,
        unmute_path="" if thing.over else thing.unmute_path,
        edit_path=thing.edit_path,
    )
