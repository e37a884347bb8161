"""The simulated model of the demo knows every task that a feature gives to a model, and each by one script only."""

import json

import pytest

from pressbox.curator.ask import activities as answering
from pressbox.curator.cards import choice as choosing
from pressbox.curator.context import model as context
from pressbox.curator.distil import model as distilling
from pressbox.curator.research import researchers as research
from pressbox.curator.translate import model as translating
from pressbox.demo.simulators.model import ModelRequest
from pressbox.demo.simulators.task_script import SCRIPTS, UNKNOWN, answer_task

MARK = "0123456789abcdef"
TEXT = "The ferry leaves at six in the morning. Nobody is on it but the post."


def between(name: str, text: str) -> str:
    head = f"{MARK} {name}".strip()
    return f"BEGIN {head}\n{text}\nEND {head}"


TASKS = {
    "distil": (distilling.instructions("de", 4, MARK), between("1", f"Title: A ferry\n0: {TEXT}")),
    "answer": (
        answering.instructions(MARK),
        f"{between('PASSAGE 1', f'A ferry{chr(10)}{TEXT}')}\n\n{between('QUESTION', 'When does the ferry leave?')}",
    ),
    "plan": (research.task(research.PLAN, MARK), between("question", "When does the ferry leave?")),
    "read": (
        research.task(research.READ, MARK),
        f"{between('question', 'When does it leave?')}\n\n{between('text', f'Title: A ferry{chr(10) * 2}{TEXT}')}",
    ),
    "context": (context.task(MARK), between("", f"Title: A ferry\n{TEXT}")),
    "rerank": (
        choosing._TASK.format(mark=MARK),
        between("", "Name: Ferry\n\n1: someone/ferry | A ferry | Go | 3 stars |"),
    ),
    "translate": (translating._TASK.format(language="de", mark=MARK), between("1", f"<p>{TEXT}</p>")),
    "judge": (
        'As JSON Schema: {"properties": {"statements": {}}}',
        between("", json.dumps({"question": "?", "answer": TEXT})),
    ),
}


@pytest.mark.parametrize("name", TASKS)
def test_each_task_is_known_by_one_script_and_answered(name: str) -> None:
    asked = ModelRequest("model", TASKS[name], ())
    assert sum(knows(asked) for knows, _ in SCRIPTS) == 1
    said = answer_task(asked)
    assert said != UNKNOWN
    assert name == "answer" or isinstance(json.loads(said), dict)


def test_what_nobody_knows_is_said_to_be_unknown_and_pictures_are_football() -> None:
    assert answer_task(ModelRequest("model", ("Write a poem.", "About ferries."), ())) == UNKNOWN
    assert "frames" in json.loads(answer_task(ModelRequest("model", ("Look.",), (b"picture",))))
