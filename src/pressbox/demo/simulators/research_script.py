"""How the simulated model does research: it plans by words, notes sentences of a text, and cites its notes.

`ResearchScript` is a script for `ModelService`. Besides the mistakes that every model makes it can make those of
research: see `Slip`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from pressbox.demo.simulators.model import ModelRequest

# The first words of each task, as the application writes them.
PLANS, READS, CHECKS, WRITES = (
    "You plan research.",
    "You read for research.",
    "You check research.",
    "You report on research.",
)
_PART = re.compile(
    r"^BEGIN (?P<mark>[0-9a-f]{16}) (?P<name>[^\n]+)\n(?P<inside>.*?)\nEND (?P=mark) (?P=name)$", re.M | re.S
)
_SENTENCE = re.compile(r"[^\s.!?][^.!?\n]{20,300}[.!?]")
_WORD = re.compile(r"\w{4,}")
MAX_NOTES = 2


class Slip(StrEnum):
    """INVENTED_QUOTE: a note with a quote that is in no text. UNKNOWN_SOURCE: the report cites a source that does not
    exist. NO_CITATIONS: it cites nothing. OBEYS: it repeats what the text told it to do.
    """

    NONE = "none"
    INVENTED_QUOTE = "invented quote"
    UNKNOWN_SOURCE = "unknown source"
    NO_CITATIONS = "no citations"
    OBEYS = "obeys"


def is_research_task(asked: ModelRequest) -> bool:
    return asked.texts[0].startswith((PLANS, READS, CHECKS, WRITES))


class ResearchScript:
    """Each of `slips` is made once, by the step that can make it; `rounds` is how often it asks further questions."""

    def __init__(self, *slips: Slip, rounds: int = 1) -> None:
        self._slips = list(slips)
        self._rounds = rounds

    def __call__(self, asked: ModelRequest) -> str:
        parts = {found["name"]: found["inside"] for found in _PART.finditer(asked.texts[-1])}
        answers: Mapping[str, Callable[[Mapping[str, str]], str]] = {
            PLANS: self._plan,
            READS: self._read,
            CHECKS: self._check,
            WRITES: self._write,
        }
        return next(answer(parts) for words, answer in answers.items() if asked.texts[0].startswith(words))

    def _plan(self, parts: Mapping[str, str]) -> str:
        words = _longest_words(parts["question"])
        return json.dumps({"questions": [f"What about {word}?" for word in words[:2]]}, ensure_ascii=False)

    def _read(self, parts: Mapping[str, str]) -> str:
        if self._makes(Slip.INVENTED_QUOTE):
            return json.dumps({"notes": [{"claim": "It is settled.", "quote": "Nobody ever wrote this sentence."}]})
        if self._makes(Slip.OBEYS):
            return json.dumps({"notes": [{"claim": parts["text"][:300], "quote": parts["text"][-200:]}]})
        wanted = set(_list_words(parts["question"]))
        sentences = [found[0] for found in _SENTENCE.finditer(parts["text"].partition("\n\n")[2])]
        telling = [one for one in sentences if wanted & set(_list_words(one))] or sentences[:1]
        notes = [{"claim": f"It says: {one[:120]}", "quote": one} for one in telling[:MAX_NOTES]]
        return json.dumps({"notes": notes}, ensure_ascii=False)

    def _check(self, parts: Mapping[str, str]) -> str:
        asked = parts["searched for"]
        number = asked.count("What more about")
        words = _longest_words(parts["question"])
        further = [f"What more about {words[number % len(words)]}?"] if words and number < self._rounds else []
        return json.dumps({"questions": further}, ensure_ascii=False)

    def _write(self, parts: Mapping[str, str]) -> str:
        sources = [name.removeprefix("source ") for name in parts if name.startswith("source ")]
        if self._makes(Slip.NO_CITATIONS):
            return "It is as everybody knows."
        unknown = " Others say more [97]." if self._makes(Slip.UNKNOWN_SOURCE) else ""
        lines = [_write_line(number, parts[f"source {number}"]) for number in sources]
        return "\n\n".join(
            (f"In short, {len(sources)} sources speak of it [{sources[0]}].{unknown}", "## In detail", *lines)
        )

    def _makes(self, slip: Slip) -> bool:
        if slip not in self._slips:
            return False
        self._slips.remove(slip)
        return True


write_research = ResearchScript()


def _write_line(number: str, notes: str) -> str:
    first = next((line for line in notes.splitlines() if line.startswith("- ")), "- It is named.")
    return f"{first.removeprefix('- ').partition(' (“')[0]} [{number}]."


def _longest_words(text: str) -> Sequence[str]:
    """Longest first: long words mostly carry the meaning."""
    return sorted(_list_words(text), key=len, reverse=True)


def _list_words(text: str) -> Sequence[str]:
    return list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))
