"""Which sentences of a text say what it is about, by how often their words come back. Pure."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.curator.text.stop_words import STOP_WORDS

_WORD = re.compile(r"[^\W\d_]{2,}")
_CJK = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u30a0-\u30ff\uac00-\ud7af]+")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_HANGUL = re.compile("[\uac00-\ud7af]")
_ANY_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
# Closing marks may follow the end: a quotation, a bracket, the number of a footnote.
_END = re.compile("[.!?…。！？｡؟।]+[\\s\"'“”’»›)\\]）」』】]*(?:\\[\\d+\\])*$")
_UNFINISHED = re.compile("(?:\\.\\.\\.|…)[\\s\"'”’»)\\]]*$")
_BEGINS_IN_THE_MIDDLE = re.compile("^[\\s,;:)\\]}>.…!?»’]|^[a-zà-öø-ÿß]")
_PAIRS = (("(", ")"), ("[", "]"), ("（", "）"), ("「", "」"), ("『", "』"))
# These lean on the sentence before, which a summary leaves out.
_LEANS = re.compile(
    r"(?:but|however|also|moreover|therefore|thus|instead|meanwhile|and|so|yet|it|he|she|they|this|that|these|those"
    r"|aber|zudem|außerdem|jedoch|dennoch|deshalb|daher|dabei|dagegen|und|er|sie|es|dies|diese|dieser|dieses|das"
    r"|mais|cependant|il|elle|ils|pero|además|sin embargo)\b",
    re.IGNORECASE,
)
_LEANING_IS_WORTH = 0.75
_SHORTEST, _LONGEST = 25, 400
_SHORTEST_CJK, _LONGEST_CJK = 10, 160
# News put first what matters; so much is it worth against words that come back.
_FIRST_IS_WORTH = 0.3


@dataclass(frozen=True)
class Sentence:
    text: str
    line: int


def whole(text: str) -> bool:
    """A sentence from its beginning to its end, of a length that can be read alone."""
    if _END.search(text) is None or _UNFINISHED.search(text) or _BEGINS_IN_THE_MIDDLE.search(text):
        return False
    if " | " in text or "://" in text or not _balanced(text):
        return False
    shortest, longest = (_SHORTEST_CJK, _LONGEST_CJK) if cjk(text) or _HANGUL.search(text) else (_SHORTEST, _LONGEST)
    return shortest <= len(text) <= longest


def _balanced(text: str) -> bool:
    """Half of a quotation is half a sentence."""
    pairs = all(text.count(opening) == text.count(closing) for opening, closing in _PAIRS)
    # German opens with its own mark and closes with the one that opens in English.
    opened = text.count("„") or text.count("“")
    closed = text.count("“") + text.count("”") if "„" in text else text.count("”")
    return pairs and opened == closed and text.count('"') % 2 == 0


def cjk(text: str) -> bool:
    """Written without spaces between words, for the most part."""
    return len(_ANY_CJK.findall(text)) * 3 > len(text)


def terms(text: str, language: str) -> list[str]:
    """Words that carry meaning; pairs of characters where there are no spaces."""
    ignored = STOP_WORDS.get(language, frozenset()) | STOP_WORDS["en"]
    words = [word for word in _WORD.findall(_HIRAGANA.sub(" ", _CJK.sub(" ", text)).lower()) if word not in ignored]
    pairs = [run[place : place + 2] for run in _CJK.findall(text) for place in range(max(1, len(run) - 1))]
    return words + pairs


def how_many(available: int, wanted: int) -> int:
    """A summary of a short text is shorter; three sentences are still one."""
    if available <= 3:
        return min(available, wanted)
    return min(wanted, 3) if available <= 8 else wanted


def summary_of(sentences: Sequence[Sentence], title: str, language: str, wanted: int) -> list[Sentence]:
    """The most telling whole sentences, none that says the same twice, in reading order."""
    candidates = list({_key(one.text): one for one in reversed(sentences) if whole(one.text)}.values())[::-1]
    places = {one: place for place, one in enumerate(candidates)}
    found = {one: terms(one.text, language) for one in candidates}
    weights = _weights([*found.values()], terms(title, language))
    chosen: list[Sentence] = []
    left = [one for one in candidates if found[one]]
    count = how_many(len(left), wanted)
    while left and len(chosen) < count:
        best = max(left, key=lambda one: _score(one, found[one], weights, places[one] / len(candidates)))
        chosen.append(best)
        left.remove(best)
        for word in set(found[best]):
            # Said once, a word tells less the second time.
            weights[word] *= 0.5
    return sorted(chosen, key=places.__getitem__)


def _weights(sentences: Sequence[Sequence[str]], title: Sequence[str]) -> dict[str, float]:
    counts = Counter(word for words in sentences for word in words)
    most = max(counts.values(), default=1)
    weights = {word: count / most for word, count in counts.items()}
    for word in set(title) & weights.keys():
        weights[word] = min(1.0, weights[word] + 0.25)
    return weights


def _score(sentence: Sentence, words: Sequence[str], weights: dict[str, float], place: float) -> float:
    # Divided by the root: long sentences say more, but not as much more as they are longer.
    telling = sum(weights[word] for word in set(words)) / math.sqrt(max(1, len(words)))
    alone = _LEANING_IS_WORTH if _LEANS.match(sentence.text) else 1.0
    return telling * alone * (1 + _FIRST_IS_WORTH * (1 - place))


def _key(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
