"""One simulated model for everything: by its task it tells which feature asks, and has that feature's script answer."""

import json
import re
from collections.abc import Callable

from pressbox.demo.simulators.asking import Answering, is_asking
from pressbox.demo.simulators.contexts import asks_for_context, asks_for_repository, picks_repository, tells_context
from pressbox.demo.simulators.distilling import distils
from pressbox.demo.simulators.judging import is_judging, judges
from pressbox.demo.simulators.model import Asked, Script, football_without_clock
from pressbox.demo.simulators.researching import is_research, researches
from pressbox.demo.simulators.translating import translated

# The first words of tasks, as they are written by whoever asks.
DISTILS = "You are given articles as numbered lines."
TRANSLATES = "You translate pieces of an article into the language with the code “"
UNKNOWN = "I do not know what is wanted."
_PIECE = re.compile(
    r"^BEGIN (?P<mark>[0-9a-f]{16}) (?P<number>\d+)\n(?P<inside>.*?)\nEND (?P=mark) (?P=number)$", re.M | re.S
)


def is_distilling(asked: Asked) -> bool:
    return asked.texts[0].startswith(DISTILS)


def is_translating(asked: Asked) -> bool:
    return asked.texts[0].startswith(TRANSLATES)


def translates(asked: Asked) -> str:
    language = asked.texts[0].removeprefix(TRANSLATES).partition("”")[0]
    pieces = [
        {"number": int(found["number"]), "text": translated(found["inside"], language)}
        for found in _PIECE.finditer(asked.texts[-1])
    ]
    return json.dumps({"blocks": pieces}, ensure_ascii=False)


# The first that knows the task answers.
SCRIPTS: tuple[tuple[Callable[[Asked], bool], Script], ...] = (
    (is_distilling, distils),
    (is_asking, Answering()),
    (is_research, researches),
    (asks_for_context, tells_context),
    (asks_for_repository, picks_repository),
    (is_translating, translates),
    (is_judging, judges),
)


def understands(asked: Asked) -> str:
    """A script for `ModelService`. Whoever shows pictures asks about football."""
    if not asked.texts or asked.pictures:
        return football_without_clock(asked)
    return next((script(asked) for knows, script in SCRIPTS if knows(asked)), UNKNOWN)
