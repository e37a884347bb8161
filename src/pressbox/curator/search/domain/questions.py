"""What a question asks for: its words that carry meaning, also of a question that follows another one. Pure."""

from collections.abc import Sequence

from pressbox.curator.text.stop_words import STOP_WORDS
from pressbox.curator.text.words import fold, split_pairs, split_words

LONGEST_QUESTION = 2_000
MOST_TERMS = 24
# A follow-up this short leans on the question before it: "And in Germany?"
LEANING_TERMS = 6

# Words of asking say nothing of what is asked for.
_ASKING = """
    does did explain tell happened happen happens anything something know latest recent recently article articles
    erkläre sag sage weshalb wieso warum woher wohin wodurch womit gibt geht ging gab welcher welches welchen welchem
    worum artikel pourquoi comment quels quelles quelque cuál cuáles cómo cuándo dónde quién quali quale perché
    waarom welk welke
"""
_IGNORED = frozenset(
    fold(word) for word in (*_ASKING.split(), *(word for listed in STOP_WORDS.values() for word in listed))
)
# Kana that hold a Japanese sentence together; what is meant is mostly written with other characters.
_HIRAGANA = frozenset(chr(code) for code in range(0x3040, 0x30A0))


def content_terms(question: str) -> tuple[str, ...]:
    """Terms as the index has them, each once, in order. A question of nothing but small words keeps them."""
    found = [term for word in split_words(question[:LONGEST_QUESTION]) for term in _terms(word.text, word.unspaced)]
    telling = [term for term in found if term not in _IGNORED and not _HIRAGANA.issuperset(term)]
    return tuple(dict.fromkeys(telling or found))[:MOST_TERMS]


def search_words(question: str, earlier: Sequence[str]) -> str:
    """What is looked for: the question, and when it is short also the words of the one before it."""
    if not earlier or len(content_terms(question)) > LEANING_TERMS:
        return question
    return f"{question}\n{earlier[-1]}"


def _terms(text: str, unspaced: bool) -> tuple[str, ...]:
    if unspaced:
        return split_pairs(text)
    return (text,) if len(text) > 1 or text.isdigit() else ()
