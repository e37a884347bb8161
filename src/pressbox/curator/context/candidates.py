"""Names in a text by rules, without a model: candidates for entities, and nothing more than candidates. Pure.

Each rule looks at a bounded number of characters around a word, so a megabyte takes a few seconds and no more.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from pressbox.curator.context.domain import MENTIONED_WITH, Entity, EntityKind, Relationship, entity_key
from pressbox.curator.context.naming import (
    A_SERIES,
    CONNECTORS,
    GERMAN_CONNECTORS,
    GERMAN_NOUN_ENDINGS,
    KEYWORDS,
    NO_CASE,
    NO_NAMES,
    POSSESSIVE,
    SECOND_CONNECTORS,
    TITLES,
    WORD,
    can_begin_name,
    find_lowercase_words,
    find_openers,
    guess_kind,
    looks_like_software,
    measure_article_rate,
    plain,
)
from pressbox.curator.text.plain_text import shorten
from pressbox.curator.text.words import STOP_WORDS

MOST_ENTITIES = 24
MOST_RELATIONSHIPS = 24
LONGEST_NAME = 80
LONGEST_QUOTE = 280
MOST_WORDS = 6
LONGEST_ACRONYM = 6
# A word that follows an article more often than this is a noun; now and then a name does too.
MOSTLY_NO_NAME = 0.3
# In one sentence; a list of a hundred names says nothing about any two of them.
MOST_TOGETHER = 6
_MOST_IN_A_LIST = 12

_CJK_RUN = re.compile("[\u30a1-\u30fa\u30fc\u30fd]{3,30}+(?:[・·][\u30a1-\u30fa\u30fc]{2,30}+){0,4}")
_WORK = re.compile("[《『]([^《》『』\n]{2,30})[》』]")
_LATIN = re.compile("[A-Za-zÀ-ɏ]")
_UNCASED = re.compile(f"[{NO_CASE}]")
_ELISION = re.compile(r"(?:[dlnsmtcDLNSMTC]|qu|Qu|dell|nell|all|sull)['’](?=[^\W\d_])")
# A dot as in U.S. belongs to the name, and the word ends before it.
_DOTTED = re.compile(r"(?:[A-Z][.])+[A-Z]")
_BEGINNING = re.compile('(?:^|[.!?…:;"“„«‹‘(\\[—–•·*>#|-])[\\s"“„«‹‘(\\[•·*>#0-9-]*$')
_OF_A_PEOPLE = ("ian", "ians", "an", "ans", "ese", "ish", "ist", "ists", "isch", "ische", "ischen")
_INNER_CAPITAL = re.compile(r"[a-zà-ÿ][A-ZÀ-Þ]|^[A-ZÀ-Þ]{2,}[a-z]|^\d[A-Z][a-z]")
_NUMBER_AT_END = re.compile(r"(?<!\d)\d++$")
_ACRONYM = re.compile(r"[A-ZÀ-Þ][A-ZÀ-Þ0-9&-]{1,9}")
_FAMILY_NAME = re.compile(r"(?:Mc|Mac|De|Di|La|Le|Du|Van|Fitz|O['’])[A-Z]")
_SENTENCE_END = re.compile("[.!?…。！？:;][\"'“”’»)\\]]*$")
# What stands between two words of one name, and nothing else.
_GAP = re.compile(r"[ \u00a0]{1,2}|[.] ")


@dataclass
class Candidate:
    """`name` as it was written first, or without shouting; `sentences` are numbers, counted once each."""

    name: str
    mentions: int = 0
    # Written large where nothing but a name is.
    sure: int = 0
    sentences: dict[int, None] = field(default_factory=dict)
    kinds: Counter[EntityKind] = field(default_factory=Counter)


@dataclass(frozen=True)
class Found:
    """One place in a sentence."""

    name: str
    sure: bool
    kind: EntityKind | None = None


def candidates(sentences: Sequence[str], title: str, language: str) -> list[Candidate]:
    """Best first. `sentences` are those of the whole text, in order."""
    rules = _Rules(
        language,
        find_lowercase_words(sentences) | find_openers(sentences),
        measure_article_rate(sentences) if language == "de" else {},
    )
    found: dict[str, Candidate] = {}
    for number, sentence in enumerate((title, *sentences)):
        for one in rules.names_in(sentence):
            _note(found, one, number - 1)
    _join_short_forms(found)
    _drop_peoples(found)
    _drop_numbered(found)
    strong = [one for key, one in found.items() if _is_enough(key, one, title)]
    return sorted(strong, key=lambda one: -_weight(one, title))[:MOST_ENTITIES]


def extract_entities(found: Iterable[Candidate], sentences: Sequence[str]) -> tuple[Entity, ...]:
    return tuple(Entity(one.name, _kind(one), "", _quote(one.sentences, sentences)) for one in found)


def extract_relationships(found: Sequence[Candidate], sentences: Sequence[str]) -> tuple[Relationship, ...]:
    """Only that two candidates share a sentence; what they have to do with each other no rule can tell."""
    by_sentence: dict[int, list[str]] = {}
    for one in found:
        for number in one.sentences:
            by_sentence.setdefault(number, []).append(one.name)
    pairs: dict[tuple[str, str], list[int]] = {}
    for number, names in sorted(by_sentence.items()):
        if number < 0 or len(names) > _MOST_IN_A_LIST:
            continue
        for source, target in combinations(names[:MOST_TOGETHER], 2):
            pairs.setdefault((source, target), []).append(number)
    often = sorted(pairs.items(), key=lambda item: -len(item[1]))[:MOST_RELATIONSHIPS]
    return tuple(
        Relationship(source, target, MENTIONED_WITH, shorten(sentences[numbers[0]], LONGEST_QUOTE))
        for (source, target), numbers in often
    )


class _Rules:
    def __init__(self, language: str, lowered: frozenset[str], follows_articles: Mapping[str, float]) -> None:
        self._german = language == "de"
        self._elides = language in ("fr", "it", "ca")
        self._stop = STOP_WORDS.get(language, frozenset()) | STOP_WORDS["en"]
        self._lowered = lowered
        self._after_articles = follows_articles

    def names_in(self, sentence: str) -> Iterator[Found]:
        if len(sentence) > 1 and _UNCASED.search(sentence):
            yield from _names_without_case(sentence)
        words = list(WORD.finditer(sentence))
        if _is_heading(sentence, words):
            words = [word for word in words if is_coined(word[0])]
        for run in self._runs(sentence, words):
            yield from self._list_values(sentence, words, run)

    def _runs(self, sentence: str, words: Sequence[re.Match[str]]) -> Iterator[range]:
        """Neighbours that are written large, with "of" and the like between them."""
        at = 0
        while at < len(words):
            if not _is_capitalised(words[at][0]):
                at += 1
                continue
            end = at + 1
            while end < len(words) and end - at < MOST_WORDS and _is_joined(sentence, words[end - 1], words[end]):
                more = 1 if _is_capitalised(words[end][0]) else self._connected(sentence, words, end)
                if not more:
                    break
                end += more
            yield range(at, end)
            at = end

    def _connected(self, sentence: str, words: Sequence[re.Match[str]], at: int) -> int:
        """How many words further the name goes on behind an "of" or a "von der"."""
        if words[at][0] not in (GERMAN_CONNECTORS if self._german else CONNECTORS):
            return 0
        if _continues(sentence, words, at):
            return 2
        second = at + 1 < len(words) and words[at + 1][0] in SECOND_CONNECTORS
        return 3 if second and _continues(sentence, words, at + 1) else 0

    def _list_values(self, sentence: str, words: Sequence[re.Match[str]], run: range) -> Iterator[Found]:
        first, last = run.start, run.stop
        begins = _BEGINNING.search(sentence[max(0, words[first].start() - 12) : words[first].start()]) is not None
        while first < last and self._is_false_name(words[first][0], begins and first == run.start):
            first += 1
        titled = next((at for at in range(last - 2, first - 1, -1) if plain(words[at][0]) in TITLES), None)
        first = first if titled is None else titled + 1
        while self._german and first < last - 1 and self._introduces(words[first][0]):
            first += 1
        while first < last and self._is_stop_word(words[last - 1][0]):
            last -= 1
        if first == last:
            return
        texts = tuple(self._bare(words[at][0]) for at in range(first, last))
        name = self._name(sentence[words[first].start() : words[last - 1].end()])
        before = words[first - 1][0] if first else ""
        after = words[last][0] if last < len(words) else ""
        kind = guess_kind(texts, before, after, sentence[words[last - 1].end() :][:24])
        if self._german and kind is EntityKind.SOFTWARE and self._is_common(texts):
            kind = None
        if len(name) <= LONGEST_NAME:
            # Nothing but a program has a version: then it does not matter where it stands.
            sure = kind is EntityKind.SOFTWARE or self._is_sure(texts, begins and first == run.start)
            yield Found(name, sure, kind)

    def _is_common(self, words: tuple[str, ...]) -> bool:
        """ "Die Zahl 4.2": a German noun before a number is no program."""
        return len(words) == 1 and self._is_noun(words[0]) and not is_coined(words[0])

    def _name(self, written: str) -> str:
        name = self._bare(written)
        return f"{name}." if _DOTTED.fullmatch(name) else name

    def _bare(self, word: str) -> str:
        """Without what grammar puts around a name."""
        bare = POSSESSIVE.sub("", word)
        if self._elides:
            bare = _ELISION.sub("", bare, count=1)
        head, dash, tail = bare.partition("-")
        # "iOS-Version" speaks of iOS.
        return head if self._german and dash and is_coined(head) and tail[:1].isupper() else bare

    def _is_stop_word(self, word: str) -> bool:
        folded = plain(word)
        if word in KEYWORDS:
            return True
        return folded in NO_NAMES or (folded in self._stop and not _is_short_acronym(word)) or word in CONNECTORS

    def _is_false_name(self, word: str, begins: bool) -> bool:
        if self._is_stop_word(word):
            return True
        return begins and plain(word) in self._lowered and not is_coined(word)

    def _is_sure(self, words: tuple[str, ...], begins: bool) -> bool:
        if any(is_coined(word) and not self._is_shouted(word) for word in words):
            return True
        if len(words) > 1:
            # "Der Minister Müller": German nouns are large too, so one of two may be none.
            return not self._german or not any(self._is_noun(word) for word in words)
        return not begins and not (self._german and self._is_noun(words[0]))

    def _is_shouted(self, word: str) -> bool:
        """ "You MUST": a plain word in large letters."""
        return word.isupper() and (plain(word) in self._lowered or len(word) > LONGEST_ACRONYM)

    def _introduces(self, word: str) -> bool:
        """ "Leiterin Rahel Lindqvist": a noun before a name; in "Universität Tarnow" it is a part of the name."""
        return self._is_noun(word) and not is_coined(word) and not can_begin_name(word)

    def _is_noun(self, word: str) -> bool:
        folded = plain(word)
        if folded.endswith(GERMAN_NOUN_ENDINGS) or folded in self._lowered:
            return True
        return self._after_articles.get(folded, 0.0) > MOSTLY_NO_NAME


@lru_cache(maxsize=20_000)
def is_coined(word: str) -> bool:
    """GitHub, PostgreSQL, NASA, GPT-4: nobody writes a plain word so."""
    if plain(word) in NO_NAMES or word in KEYWORDS or len(word) < 2:
        return False
    if _INNER_CAPITAL.search(word) and not _FAMILY_NAME.match(word):
        return True
    return _ACRONYM.fullmatch(word) is not None and any(character.isalpha() for character in word[1:])


def _names_without_case(sentence: str) -> Iterator[Found]:
    """Scripts without large letters: names of works in their marks, and words that kana write as foreign."""
    for found in _WORK.finditer(sentence):
        yield Found(found[1], sure=True)
    for found in _CJK_RUN.finditer(sentence):
        yield Found(found[0], sure=False)


def _is_short_acronym(word: str) -> bool:
    """IT, US and WHO are written as words that say nothing."""
    return len(word) <= 3 and _ACRONYM.fullmatch(word) is not None


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() or (len(word) > 2 and _INNER_CAPITAL.search(word) is not None)


def _is_joined(sentence: str, left: re.Match[str], right: re.Match[str]) -> bool:
    if left[0].endswith(("'s", "’s")):
        # What belongs to somebody has a name of its own.
        return False
    gap = sentence[left.end() : right.start()]
    if gap == ". ":
        # An initial, not the end of a sentence.
        return len(left[0]) == 1
    return _GAP.fullmatch(gap) is not None


def _continues(sentence: str, words: Sequence[re.Match[str]], at: int) -> bool:
    return at + 1 < len(words) and _is_capitalised(words[at + 1][0]) and _is_joined(sentence, words[at], words[at + 1])


def _is_heading(sentence: str, words: Sequence[re.Match[str]]) -> bool:
    """Where every word is written large, being large says nothing."""
    letters = [word[0] for word in words if word[0][0].isalpha()]
    if len(letters) < 3:
        return not _SENTENCE_END.search(sentence)
    large = sum(1 for word in letters if word[0].isupper())
    if sum(1 for word in letters if word.isupper() and len(word) > 1) * 2 > len(letters):
        return True
    return large * 10 > len(letters) * 6 and not _SENTENCE_END.search(sentence)


def _note(found: dict[str, Candidate], one: Found, number: int) -> None:
    key = entity_key(one.name)
    if len(key) < 2 or key.isdigit():
        return
    known = found.setdefault(key, Candidate(one.name))
    if known.name.isupper() and not one.name.isupper():
        known.name = one.name
    known.mentions += 1
    known.sure += one.sure
    if number >= 0:
        known.sentences[number] = None
    if one.kind is not None:
        known.kinds[one.kind] += 1


def _join_short_forms(found: dict[str, Candidate]) -> None:
    """ "Merkel" after "Angela Merkel" is the same person, when there is only one Merkel."""
    longer: dict[str, list[str]] = {}
    for key in found:
        words = key.split()
        if len(words) > 1:
            for word in {words[0], words[-1]}:
                longer.setdefault(word, []).append(key)
    for short, keys in longer.items():
        if short in found and len(keys) == 1 and not is_coined(found[short].name):
            whole, part = found[keys[0]], found.pop(short)
            whole.mentions += part.mentions
            whole.sure += part.sure
            whole.sentences |= part.sentences
            whole.kinds += part.kinds


def _drop_peoples(found: dict[str, Candidate]) -> None:
    """ "Tunisian" and "Tunisians" beside "Tunisia"."""
    shortest: dict[str, str] = {}
    for key in sorted((key for key in found if " " not in key), key=len):
        shortest.setdefault(key[:4], key)
    for key in [key for key in found if " " not in key and key.endswith(_OF_A_PEOPLE)]:
        if shortest.get(key[:4], key) != key:
            del found[key]


def _drop_numbered(found: dict[str, Candidate]) -> None:
    """SG01, SG02, SG03 and so on are labels of a list."""
    series = Counter(_NUMBER_AT_END.sub("", key) for key in found if _NUMBER_AT_END.search(key))
    for key in [key for key in found if _NUMBER_AT_END.search(key)]:
        if series[_NUMBER_AT_END.sub("", key)] >= A_SERIES:
            del found[key]


def _is_enough(key: str, one: Candidate, title: str) -> bool:
    if not one.sentences:
        return False
    if not one.sure:
        # Kana alone are mostly plain words: only what comes back.
        return one.mentions >= 3 and bool(_CJK_RUN.fullmatch(one.name))
    if " " in key or is_coined(one.name) or one.kinds or not _LATIN.search(one.name):
        return True
    return one.sure >= 2 or key in entity_key(title)


def _weight(one: Candidate, title: str) -> float:
    in_title = 2.0 if one.name.casefold() in title.casefold() else 0.0
    return one.mentions + in_title + (0.5 if " " in one.name or is_coined(one.name) else 0.0)


def _kind(one: Candidate) -> EntityKind:
    if one.kinds:
        return one.kinds.most_common(1)[0][0]
    return EntityKind.SOFTWARE if looks_like_software(one.name) else EntityKind.OTHER


def _quote(numbers: Mapping[int, None], sentences: Sequence[str]) -> str:
    return shorten(sentences[next(iter(numbers))], LONGEST_QUOTE) if numbers else ""
