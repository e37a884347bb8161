"""Accounts for what people were told of goals: what arrived, beside what their inbox and its ledger say. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pressbox.demo.simulators.mail_sink import Mail
from pressbox.demo.simulators.notification_target import Received

_NOTICE = re.compile(r"/inbox/notices/(\d+)")
_CORRECTION, _TAKEN_BACK = "Correction: ", "Taken back: "
# What was sent, as far as anybody knows.
_LEFT = ("sent", "uncertain")


class Way(StrEnum):
    """As the ledger calls them."""

    MAIL = "account"
    CHAT = "channel"
    PUSH = "push"


@dataclass(frozen=True)
class Message:
    """One that arrived; `notice_id` is None when it takes back what this way never told."""

    notice_id: int | None
    taken_back: bool = False
    has_clip: bool = False


@dataclass(frozen=True)
class Arrived:
    """What one person got, by each way, oldest first."""

    messages: Mapping[Way, Sequence[Message]]

    def of(self, way: Way, notice_id: int) -> list[Message]:
        return [message for message in self.messages[way] if message.notice_id == notice_id]


def read_arrived(mails: Iterable[Mail], chats: Iterable[Received], pushed: Iterable[Mapping[str, Any]]) -> Arrived:
    return Arrived(
        {
            Way.MAIL: _read_texts((mail.subject, mail.body) for mail in mails),
            Way.CHAT: _read_texts((chat.title, chat.body) for chat in chats),
            Way.PUSH: [_read_push(content) for content in pushed],
        }
    )


def _read_texts(texts: Iterable[tuple[str, str]]) -> list[Message]:
    """What is taken back has no link; it is named as it was told."""
    messages: list[Message] = []
    told: dict[str, int] = {}
    for title, body in texts:
        if title.startswith(_TAKEN_BACK):
            messages.append(Message(told.get(title.removeprefix(_TAKEN_BACK)), taken_back=True))
        elif found := _NOTICE.search(body):
            told[title.removeprefix(_CORRECTION)] = int(found[1])
            messages.append(Message(int(found[1])))
    return messages


def _read_push(content: Mapping[str, Any]) -> Message:
    found = _NOTICE.search(str(content["path"]))
    actions = {action["action"] for action in content["actions"]}
    return Message(int(found[1]) if found else None, bool(content["withdrawn"]), "watch" in actions)


@dataclass
class Tally:
    """Pairs of a person and a goal, counted.

    `written` is how often the ledger says that a mail or a chat was written to; `denied` are copies that it does not
    admit.
    """

    inbox: int = 0
    told: dict[Way, int] = field(default_factory=lambda: dict.fromkeys(Way, 0))
    with_clip: int = 0
    told_and_gone: dict[Way, int] = field(default_factory=lambda: dict.fromkeys(Way, 0))
    taken_back: dict[Way, int] = field(default_factory=lambda: dict.fromkeys(Way, 0))
    written: int = 0
    denied: int = 0

    def add(self, line: Mapping[str, Any], arrived: Arrived) -> None:
        """`line` is the goal in the inbox of the person to whom this arrived."""
        self.inbox += not line["withdrawn"]
        for way in Way:
            messages = arrived.of(way, line["id"])
            self.denied += count_denied(line, way, messages)
            if line["withdrawn"]:
                self.told_and_gone[way] += any(not message.taken_back for message in messages)
                self.taken_back[way] += bool(messages) and messages[-1].taken_back
            else:
                self.told[way] += bool(messages) and not messages[-1].taken_back
        self.written += sum(send["state"] in _LEFT and send["way"] != Way.PUSH for send in line["sends"])
        pushed = arrived.of(Way.PUSH, line["id"])
        self.with_clip += any(message.has_clip for message in pushed)


def count_denied(line: Mapping[str, Any], way: Way, messages: Sequence[Message]) -> int:
    """How many more arrived than the ledger says, unless it says that one may have come twice."""
    sends = [send for send in line["sends"] if send["way"] == way]
    if any(send["maybe_twice"] for send in sends):
        return 0
    return max(0, len(messages) - sum(send["state"] in _LEFT for send in sends))


def is_settled(lines: Iterable[Mapping[str, Any]]) -> bool:
    """Whether nothing waits to be sent any more."""
    return all(send["state"] != "pending" for line in lines for send in line["sends"])


def tally(people: Iterable[tuple[Sequence[Mapping[str, Any]], Arrived]]) -> Tally:
    counted = Tally()
    for lines, arrived in people:
        for line in lines:
            counted.add(line, arrived)
    return counted
