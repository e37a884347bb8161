"""How the simulated model answers a question: with sentences of the passages that share words with it.

`AnswerScript` is a script for `ModelService`. Besides the mistakes that every model makes it can make those of answers:
see `Slip`.
"""

import re
from enum import StrEnum

from pressbox.demo.simulators.model import ModelRequest

# The first words of the task, as the application writes them.
ANSWERS = "Answer the question with the numbered passages"
_PART = re.compile(
    r"^BEGIN (?P<mark>[0-9a-f]{16}) (?P<name>[^\n]+)\n(?P<inside>.*?)\nEND (?P=mark) (?P=name)$", re.M | re.S
)
_SENTENCE = re.compile(r"[^.!?。！？\n]{8,400}[.!?。！？]")
_WORD = re.compile(r"\w{4,}")
MAX_SENTENCES = 3


class Slip(StrEnum):
    """UNKNOWN_PASSAGE: cites a passage that does not exist. NO_CITATIONS: cites nothing. OBEYS: repeats whatever the
    passages say, with markup and a link.
    """

    NONE = "none"
    UNKNOWN_PASSAGE = "unknown passage"
    NO_CITATIONS = "no citations"
    OBEYS = "obeys"


def is_question_task(asked: ModelRequest) -> bool:
    return asked.texts[0].startswith(ANSWERS)


class AnswerScript:
    """Makes one of `slips` in each answer, in order."""

    def __init__(self, *slips: Slip) -> None:
        self._slips = list(slips)

    def __call__(self, asked: ModelRequest) -> str:
        parts = {found["name"]: found["inside"] for found in _PART.finditer(asked.texts[-1])}
        question = parts.get("QUESTION", "")
        passages = {name.removeprefix("PASSAGE "): text for name, text in parts.items() if name.startswith("PASSAGE ")}
        slip = self._slips.pop(0) if self._slips else Slip.NONE
        if slip is Slip.OBEYS:
            return "\n".join(passages.values()) + "\n<script>alert(1)</script> [here](javascript:alert(1))"
        answer = _write_answer(question, passages)
        if slip is Slip.UNKNOWN_PASSAGE:
            return f"{answer} There is more elsewhere [99]."
        return re.sub(r" \[\d+\]", "", answer) if slip is Slip.NO_CITATIONS else answer


def _write_answer(question: str, passages: dict[str, str]) -> str:
    wanted = set(_WORD.findall(question.lower()))
    # The first line of a passage is its title.
    sentences = [
        (number, sentence.strip())
        for number, text in passages.items()
        for sentence in _SENTENCE.findall(text.partition("\n")[2])
    ]
    best = sorted(sentences, key=lambda pair: -len(wanted & set(_WORD.findall(pair[1].lower()))))[:MAX_SENTENCES]
    if not best:
        return "The passages do not say."
    return " ".join(f"{sentence[:-1]} [{number}]{sentence[-1]}" for number, sentence in best)
