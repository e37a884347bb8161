"""How the simulated model judges for RAGAS: by shared words, never by meaning."""

import json
import re

from pressbox.demo.simulators.model import ModelRequest

_MATERIAL = re.compile(r"^BEGIN (?P<mark>[0-9a-f]{16})\n(?P<inside>.*)\nEND (?P=mark)$", re.S)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"\w{4,}")
VAGUE = ("i don't know", "i do not know", "i'm not sure", "ich weiß es nicht")
MIN_SHARED = 0.6


def is_judge_task(asked: ModelRequest) -> bool:
    """Whether RAGAS asks: its instructions contain the schema of the answer."""
    task = asked.texts[0]
    return "JSON Schema" in task and ('"statements"' in task or '"noncommittal"' in task)


def write_judgement(asked: ModelRequest) -> str:
    """A script for `ModelService`."""
    found = _MATERIAL.match(asked.texts[-1])
    given = json.loads(found["inside"]) if found else {}
    if "context" in given:
        return json.dumps({"statements": [_judge_statement(one, given["context"]) for one in given["statements"]]})
    if "answer" in given:
        return json.dumps({"statements": [part for part in _SENTENCE.split(given["answer"]) if part.strip()]})
    response = str(given.get("response", ""))
    vague = response.lower().startswith(VAGUE)
    return json.dumps({"question": f"What about {response[:200]}?", "noncommittal": int(vague)}, ensure_ascii=False)


def _judge_statement(statement: str, context: str) -> dict[str, object]:
    words = set(_WORD.findall(statement.lower()))
    there = len(words & set(_WORD.findall(context.lower()))) >= MIN_SHARED * len(words)
    return {"statement": statement, "reason": "By its words.", "verdict": int(there)}
