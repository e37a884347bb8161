"""How words are written in a text: which are small somewhere, only begin sentences, or follow articles. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from pressbox.curator.context.domain.naming import GERMAN_ADJECTIVE_ENDINGS, GERMAN_BEFORE_NOUNS, SAYING

A_SERIES = 4
# Scripts without large and small letters; Latin words inside of them stand for themselves.
NO_CASE = "\u0590-\u06ff\u0900-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_L = rf"[^\W_{NO_CASE}]"
# A word with what may stand inside of it: Node.js, U.S, AT&T's, C++, Lee-Jones. No character is looked at twice.
WORD = re.compile(rf"{_L}(?:{_L}|[.](?=[a-z])|(?<=\d)[.](?=\d)|(?<=\b[A-Z])[.](?=[A-Z]\b)|['’+#-](?={_L})|[+#])*+")
POSSESSIVE = re.compile(r"['’]s?$")


@lru_cache(maxsize=20_000)
def plain(word: str) -> str:
    return POSSESSIVE.sub("", word.lower().replace("’", "'"))


def written_small(sentences: Sequence[str]) -> frozenset[str]:
    return frozenset(word for sentence in sentences for word in WORD.findall(sentence) if word.islower())


def openers(sentences: Sequence[str]) -> frozenset[str]:
    """Words that begin several sentences or lines and are large nowhere else: "Added" in a list of changes."""
    opening: Counter[str] = Counter()
    inside: set[str] = set()
    for sentence in sentences:
        words = WORD.findall(sentence)
        opening.update(plain(word) for word in words[:1])
        inside.update(plain(word) for word in words[1:] if word[0].isupper())
    return frozenset(word for word, count in opening.items() if count >= A_SERIES and word not in inside)


def after_articles(sentences: Sequence[str]) -> dict[str, float]:
    """How often a word that is written large follows an article, a number or an adjective: German nouns do."""
    seen: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for sentence in sentences:
        words = WORD.findall(sentence)
        for left, right in pairwise(words):
            if right[0].isupper():
                seen[plain(right)] += 1
                after[plain(right)] += _announces_noun(left)
    return {word: after[word] / count for word, count in seen.items()}


def _announces_noun(word: str) -> bool:
    if word in SAYING:
        return False
    return (
        word.lower() in GERMAN_BEFORE_NOUNS
        or word.isdigit()
        or (word.islower() and len(word) > 4 and word.endswith(GERMAN_ADJECTIVE_ENDINGS))
    )
