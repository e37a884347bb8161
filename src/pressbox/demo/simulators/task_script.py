"""One simulated model for all features: it recognises the feature by its task and uses that feature's script."""

import json
import re
from collections.abc import Callable

from pressbox.demo.simulators.answer_script import AnswerScript, is_question_task
from pressbox.demo.simulators.context_script import is_context_task, is_repository_task, pick_repository, write_context
from pressbox.demo.simulators.distillation_script import write_distillation
from pressbox.demo.simulators.judge_script import is_judge_task, write_judgement
from pressbox.demo.simulators.model import ModelRequest, Script, describe_football
from pressbox.demo.simulators.research_script import is_research_task, write_research
from pressbox.demo.simulators.translation_text import translate_text

# The first words of tasks, as the application writes them.
DISTILS = "You are given articles as numbered lines."
TRANSLATES = "You translate pieces of an article into the language with the code “"
UNKNOWN = "I do not know what you want."
_PIECE = re.compile(
    r"^BEGIN (?P<mark>[0-9a-f]{16}) (?P<number>\d+)\n(?P<inside>.*?)\nEND (?P=mark) (?P=number)$", re.M | re.S
)


def is_distillation_task(asked: ModelRequest) -> bool:
    return asked.texts[0].startswith(DISTILS)


def is_translation_task(asked: ModelRequest) -> bool:
    return asked.texts[0].startswith(TRANSLATES)


def write_translation(asked: ModelRequest) -> str:
    language = asked.texts[0].removeprefix(TRANSLATES).partition("”")[0]
    pieces = [
        {"number": int(found["number"]), "text": translate_text(found["inside"], language)}
        for found in _PIECE.finditer(asked.texts[-1])
    ]
    return json.dumps({"blocks": pieces}, ensure_ascii=False)


# The first that recognises the task answers.
SCRIPTS: tuple[tuple[Callable[[ModelRequest], bool], Script], ...] = (
    (is_distillation_task, write_distillation),
    (is_question_task, AnswerScript()),
    (is_research_task, write_research),
    (is_context_task, write_context),
    (is_repository_task, pick_repository),
    (is_translation_task, write_translation),
    (is_judge_task, write_judgement),
)


def answer_task(asked: ModelRequest) -> str:
    """A script for `ModelService`. A request with pictures is about football."""
    if not asked.texts or asked.pictures:
        return describe_football(asked)
    return next((script(asked) for knows, script in SCRIPTS if knows(asked)), UNKNOWN)
