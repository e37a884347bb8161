"""What a push message says, and the bytes that a browser gets. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

# A push service takes 4,096 bytes; header, key, padding and seal of the encryption take 103 of them.
MOST_BYTES = 3_900
LONGEST_TITLE = 160
LONGEST_BODY = 800

Translate = Callable[[str], str]


class PushActionKind(StrEnum):
    """WATCH opens the path `target`. MUTE mutes the followed subject `target`. READ marks the notice `target`."""

    WATCH = "watch"
    MUTE = "mute"
    READ = "read"


@dataclass(frozen=True)
class PushAction:
    kind: PushActionKind
    target: str


@dataclass(frozen=True)
class PushMessage:
    """Title and body are in the reader's language already. `path` is where a click leads, within Pressbox.

    A message with the `tag` of an earlier one takes its place; a `withdrawn` one says that it was taken back. `badge`
    is how much is unread; None leaves the number as it is. Most browsers show two actions: the first ones count.
    """

    title: str
    body: str = ""
    path: str = "/inbox"
    tag: str = ""
    actions: tuple[PushAction, ...] = ()
    withdrawn: bool = False
    badge: int | None = None


ACTION_WORDS = {
    PushActionKind.WATCH: "Watch",
    PushActionKind.MUTE: "Mute",
    PushActionKind.READ: "Mark as read",
}
WITHDRAWN_WORDS = "Taken back: %s"


def encode_message(message: PushMessage, translate: Translate = str) -> bytes:
    """As the service worker reads it. Whatever is too long for a push service is cut off, the body first."""
    if not message.path.startswith("/") or message.path.startswith("//"):
        raise ValueError("A push message leads to a path of ours.")
    title = translate(WITHDRAWN_WORDS) % message.title if message.withdrawn else message.title
    shown = replace(message, title=_cut(title, LONGEST_TITLE), body=_cut(message.body, LONGEST_BODY))
    while len(encoded := _encode(shown, translate)) > MOST_BYTES:
        if not shown.body:
            raise ValueError("A push message is too long, even without its body.")
        shown = replace(shown, body=_cut(shown.body, len(shown.body) // 2))
    return encoded


def _encode(message: PushMessage, translate: Translate) -> bytes:
    actions = [
        {"action": action.kind, "title": translate(ACTION_WORDS[action.kind]), "target": action.target}
        for action in message.actions
    ]
    content: Mapping[str, Any] = {
        "title": message.title,
        "body": message.body,
        "path": message.path,
        "tag": message.tag,
        "actions": actions,
        "withdrawn": message.withdrawn,
        "badge": message.badge,
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: max(longest - 1, 0)].rstrip() + ("…" if longest else "")
