"""What the simulated model says when RAGAS asks it to judge: by shared words, never by understanding."""

import json
import re

from pressbox.demo.simulators.model import Asked

_MATERIAL = re.compile(r"^BEGIN (?P<mark>[0-9a-f]{16})\n(?P<inside>.*)\nEND (?P=mark)$", re.S)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"\w{4,}")
VAGUE = ("i don't know", "i do not know", "i'm not sure", "ich weiß es nicht")
SHARED = 0.6


def is_judging(asked: Asked) -> bool:
    """Whether this is a question of RAGAS: the schema of its answer stands in the instructions."""
    task = asked.texts[0]
    return "JSON Schema" in task and ('"statements"' in task or '"noncommittal"' in task)


def judges(asked: Asked) -> str:
    """A script for `ModelService`."""
    found = _MATERIAL.match(asked.texts[-1])
    given = json.loads(found["inside"]) if found else {}
    if "context" in given:
        return json.dumps({"statements": [_verdict(one, given["context"]) for one in given["statements"]]})
    if "answer" in given:
        return json.dumps({"statements": [part for part in _SENTENCE.split(given["answer"]) if part.strip()]})
    response = str(given.get("response", ""))
    vague = response.lower().startswith(VAGUE)
    return json.dumps({"question": f"What about {response[:200]}?", "noncommittal": int(vague)}, ensure_ascii=False)


def _verdict(statement: str, context: str) -> dict[str, object]:
    words = set(_WORD.findall(statement.lower()))
    there = len(words & set(_WORD.findall(context.lower()))) >= SHARED * len(words)
    return {"statement": statement, "reason": "By its words.", "verdict": int(there)}
