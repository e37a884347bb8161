"""Chooses the sentences that say what a text is about, by how often their words come back. Pure."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from pressbox.curator.text.sentences import Sentence, extract_terms, is_whole

# These refer to the sentence before, which a summary leaves out.
_DEPENDENT = re.compile(
    r"(?:but|however|also|moreover|therefore|thus|instead|meanwhile|and|so|yet|it|he|she|they|this|that|these|those"
    r"|aber|zudem|außerdem|jedoch|dennoch|deshalb|daher|dabei|dagegen|und|er|sie|es|dies|diese|dieser|dieses|das"
    r"|mais|cependant|il|elle|ils|pero|además|sin embargo)\b",
    re.IGNORECASE,
)
_DEPENDENT_WORTH = 0.75
# News puts first what matters: what the first place is worth, against words that come back.
_FIRST_WORTH = 0.3


def summary_length(available: int, wanted: int) -> int:
    """How many sentences a summary has: fewer when the text itself is short."""
    if available <= 3:
        return min(available, wanted)
    return min(wanted, 3) if available <= 8 else wanted


def choose_sentences(sentences: Sequence[Sentence], title: str, language: str, wanted: int) -> list[Sentence]:
    """Choose the most telling whole sentences, without repetitions, in reading order."""
    candidates = list({_key(one.text): one for one in reversed(sentences) if is_whole(one.text)}.values())[::-1]
    places = {one: place for place, one in enumerate(candidates)}
    found = {one: extract_terms(one.text, language) for one in candidates}
    weights = _weights([*found.values()], extract_terms(title, language))
    chosen: list[Sentence] = []
    left = [one for one in candidates if found[one]]
    count = summary_length(len(left), wanted)
    while left and len(chosen) < count:
        best = max(left, key=lambda one: _score(one, found[one], weights, places[one] / len(candidates)))
        chosen.append(best)
        left.remove(best)
        for word in set(found[best]):
            # A word tells less the second time.
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
    # Divided by the root of the length: long sentences say more, but not in proportion.
    telling = sum(weights[word] for word in set(words)) / math.sqrt(max(1, len(words)))
    independence = _DEPENDENT_WORTH if _DEPENDENT.match(sentence.text) else 1.0
    return telling * independence * (1 + _FIRST_WORTH * (1 - place))


def _key(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
