"""What people of the demo were told is compared with what their inbox says, message by message."""

from collections.abc import Mapping, Sequence
from typing import Any

from pressbox.demo.football_day.followers import list_findings
from pressbox.demo.football_day.told import Way, is_settled, read_arrived, tally
from pressbox.demo.simulators.mail_sink import Mail
from pressbox.demo.simulators.notification_target import Received

TITLE = "Goal for Chile by Vidal, 2′"
LINK = "Chile 1–0 Peru\nhttp://127.0.0.1:1/inbox/notices/7"


def mail(subject: str, body: str = LINK) -> Mail:
    return Mail(sender="demo@example.org", recipient="ada@example.org", subject=subject, body=body, headers={})


def chat(title: str, body: str = LINK) -> Received:
    return Received(key="ada", title=title, body=body, kind="info")


def push(*actions: str, withdrawn: bool = False) -> Mapping[str, Any]:
    listed = [{"action": action} for action in actions]
    return {"title": TITLE, "path": "/inbox/notices/7", "actions": listed, "withdrawn": withdrawn}


def send(way: Way, state: str = "sent", *, twice: bool = False) -> Mapping[str, Any]:
    return {"way": way, "state": state, "maybe_twice": twice}


def line(*sends: Mapping[str, Any], withdrawn: bool = False) -> Mapping[str, Any]:
    return {"id": 7, "withdrawn": withdrawn, "sends": list(sends)}


EVERY_WAY = [send(way) for way in Way]


def missed(lines: Sequence[Mapping[str, Any]], *arrived: Sequence[Any], **expected: int) -> dict[str, int]:
    counted = tally([(lines, read_arrived(*arrived))])
    return {
        finding.name: finding.found
        for finding in list_findings(counted, people=1, **expected)
        if finding.found != finding.expected
    }


def test_a_goal_that_came_once_by_every_way_is_as_expected() -> None:
    assert missed([line(*EVERY_WAY)], [mail(TITLE)], [chat(TITLE)], [push()], goals=1) == {}


def test_a_way_by_which_nothing_came_is_seen() -> None:
    assert missed([line(*EVERY_WAY)], [], [chat(TITLE)], [push()], goals=1) == {"goals told by mail": 0}


def test_a_second_copy_is_denied_unless_the_ledger_admits_it() -> None:
    twice = [mail(TITLE), mail(TITLE)]
    assert missed([line(*EVERY_WAY)], twice, [chat(TITLE)], [push()], goals=1) == {"copies that the ledger denies": 1}
    admitted = [send(Way.MAIL, twice=True), *EVERY_WAY[1:]]
    assert missed([line(*admitted)], twice, [chat(TITLE)], [push()], goals=1) == {}


def test_what_is_taken_back_is_found_by_the_title_it_was_told_under() -> None:
    corrected = "Goal for Chile by Sánchez, 2′"
    chats = [chat(TITLE), chat(f"Correction: {corrected}"), chat(f"Taken back: {corrected}", "Chile – Peru")]
    mails = [mail(TITLE), mail(f"Taken back: {TITLE}", "Chile – Peru")]
    sends = [*EVERY_WAY, *EVERY_WAY, send(Way.CHAT)]
    pushed = [push("watch", "read"), push(withdrawn=True)]
    assert missed([line(*sends, withdrawn=True)], mails, chats, pushed, goals=0, taken_back=1) == {}
    assert tally([([line(*sends, withdrawn=True)], read_arrived(mails, chats, pushed))]).with_clip == 1


def test_whoever_was_told_and_never_corrected_is_seen() -> None:
    sends = [*EVERY_WAY, *EVERY_WAY]
    pushed = [push(), push(withdrawn=True)]
    chats = [chat(TITLE), chat(f"Taken back: {TITLE}", "Chile – Peru")]
    found = missed([line(*sends, withdrawn=True)], [mail(TITLE)], chats, pushed, goals=0)
    assert found == {"goals taken back by mail": 0}


def test_what_still_waits_is_not_judged() -> None:
    assert is_settled([line(*EVERY_WAY)])
    assert not is_settled([line(send(Way.MAIL, "pending"))])
