"""What the simulated model says when a person asks: sentences of the passages that share words with the question.

`Answering` is a script for `ModelService`. Beside the mistakes that every model makes it can make those of answers: see
`Slip`.
"""

import re
from enum import StrEnum

from pressbox.demo.simulators.model import Asked

# The first words of the task, as they are written by whoever asks.
ANSWERS = "Answer the question with the numbered passages"
_PART = re.compile(
    r"^BEGIN (?P<mark>[0-9a-f]{16}) (?P<name>[^\n]+)\n(?P<inside>.*?)\nEND (?P=mark) (?P=name)$", re.M | re.S
)
_SENTENCE = re.compile(r"[^.!?。！？\n]{8,400}[.!?。！？]")
_WORD = re.compile(r"\w{4,}")
MOST_SENTENCES = 3


class Slip(StrEnum):
    """UNKNOWN_PASSAGE: it cites a passage that is not there. NO_CITATIONS: it cites none at all.
    OBEYS: it says whatever the passages say, with markup and a link.
    """

    NONE = "none"
    UNKNOWN_PASSAGE = "unknown passage"
    NO_CITATIONS = "no citations"
    OBEYS = "obeys"


def is_asking(asked: Asked) -> bool:
    return asked.texts[0].startswith(ANSWERS)


class Answering:
    """`slips` are made one by one, one for each answer."""

    def __init__(self, *slips: Slip) -> None:
        self._slips = list(slips)

    def __call__(self, asked: Asked) -> str:
        parts = {found["name"]: found["inside"] for found in _PART.finditer(asked.texts[-1])}
        question = parts.get("QUESTION", "")
        passages = {name.removeprefix("PASSAGE "): text for name, text in parts.items() if name.startswith("PASSAGE ")}
        slip = self._slips.pop(0) if self._slips else Slip.NONE
        if slip is Slip.OBEYS:
            return "\n".join(passages.values()) + "\n<script>alert(1)</script> [here](javascript:alert(1))"
        said = _said(question, passages)
        if slip is Slip.UNKNOWN_PASSAGE:
            return f"{said} And more of it stands elsewhere [99]."
        return re.sub(r" \[\d+\]", "", said) if slip is Slip.NO_CITATIONS else said


def _said(question: str, passages: dict[str, str]) -> str:
    wanted = set(_WORD.findall(question.lower()))
    # The first line of a passage is its title.
    sentences = [
        (number, sentence.strip())
        for number, text in passages.items()
        for sentence in _SENTENCE.findall(text.partition("\n")[2])
    ]
    best = sorted(sentences, key=lambda pair: -len(wanted & set(_WORD.findall(pair[1].lower()))))[:MOST_SENTENCES]
    if not best:
        return "The passages do not say."
    return " ".join(f"{sentence[:-1]} [{number}]{sentence[-1]}" for number, sentence in best)
