"""How the simulated model says what an article is about, and which repository it means."""

import json
import re
from itertools import pairwise

from pressbox.demo.simulators.model import ModelRequest

_PIECE = re.compile(r"^BEGIN (?P<mark>[0-9a-f]{16})\n(?P<inside>.*)\nEND (?P=mark)$", re.M | re.S)
_NAME = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\b")
_SENTENCE = re.compile(r"[^.!?\n]{20,300}[.!?]")
_SOUGHT = re.compile(r"^Name: (.+)$", re.M)
_REPOSITORY = re.compile(r"^(\d+): [^/\s]+/(\S+) \|", re.M)
MAX_NAMES = 6


def is_context_task(asked: ModelRequest) -> bool:
    return asked.texts[:1] != () and asked.texts[0].startswith("You find out what a piece of an article is about.")


def is_repository_task(asked: ModelRequest) -> bool:
    return asked.texts[:1] != () and asked.texts[0].startswith("An article speaks of software by its name.")


def write_context(asked: ModelRequest) -> str:
    """A script for `ModelService`: the names in the piece, each related to the next, and its first sentences."""
    inside = "\n".join(found["inside"] for text in asked.texts for found in _PIECE.finditer(text))
    sentences = [" ".join(found[0].split()) for found in _SENTENCE.finditer(inside)]
    names = list(dict.fromkeys(_NAME.findall(inside)))[:MAX_NAMES]
    entities = [
        {"name": name, "kind": "software" if f"{name} 1." in inside else "other", "description": "", "quote": name}
        for name in names
    ]
    relations = [
        {"source": left, "target": right, "relation": "is named with", "quote": ""} for left, right in pairwise(names)
    ]
    return json.dumps(
        {
            "domain": "technology",
            "content_type": "article",
            "entities": entities,
            "relationships": relations,
            "key_points": sentences[:2],
        },
        ensure_ascii=False,
    )


def pick_repository(asked: ModelRequest) -> str:
    """Pick the first repository with this name; none if there is none."""
    text = "\n".join(asked.texts)
    sought = _SOUGHT.search(text)
    name = sought[1].strip().lower() if sought else ""
    number = next((int(found[1]) for found in _REPOSITORY.finditer(text) if found[2].lower() == name), 0)
    return json.dumps({"repository": number})
