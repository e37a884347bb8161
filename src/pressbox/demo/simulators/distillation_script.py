"""How the simulated model distils articles: with the first words of each."""

import json
import re

from pressbox.demo.simulators.model import ModelRequest

_ARTICLE = re.compile(
    r"^BEGIN (?P<mark>[0-9a-f]{16}) (?P<number>\d+)\n(?P<inside>.*?)\nEND (?P=mark) (?P=number)$", re.M | re.S
)
_LINE = re.compile(r"^(\d+): (.*)$", re.M)
MAX_SUMMARY = 200


def write_distillation(asked: ModelRequest) -> str:
    """A script for `ModelService`. Asked to repair its answer, it gives the whole answer again."""
    articles = [_distil_article(found) for text in asked.texts for found in _ARTICLE.finditer(text)]
    return json.dumps({"articles": articles}, ensure_ascii=False)


def _distil_article(found: re.Match[str]) -> dict[str, object]:
    lines = _LINE.findall(found["inside"])
    words = " ".join(text for _, text in lines)
    return {
        "article": int(found["number"]),
        "main_content_start_line": int(lines[0][0]),
        "main_content_end_line": int(lines[-1][0]),
        "summary": f"In short: {words[:MAX_SUMMARY]}",
    }
