"""Players' names as fans type them: which parts of a name find posts about its bearer."""

import re
import unicodedata
from collections.abc import Sequence

from pressbox.footy.domain.names import NOT_IN_A_WORD, OPERATORS, SHORTEST_PART, count_letters, fold, word_set
from pressbox.footy.domain.nicknames import find_nickname

MOST_NAME_PARTS = 3
_LONGEST_SYLLABLE = 5
_INITIALS = re.compile(r"(?:[^\W\d_]\.?-?){1,2}\.|[^\W\d_]")

# Given names shared by too many players, and suffixes such as "the younger".
_TOO_COMMON = word_set(
    """
    abdul abdullah adam ahmad ahmed alejandro alex alexander ali amadou anderson andre andrea andreas andres andrew
    andy angel anthony antonio ben benjamin bernardo brian bruno carlos charlie chris christian cristian cristiano dani
    daniel daniele danny david diego dominic douglas eduardo edward emmanuel eric fabio felipe fernando filho francesco
    francisco frank gabriel george giovanni gustavo harry hassan henrique hugo ibrahim ibrahima ii iii ismail ivan jack
    jacob jake james jamie jan javier jean jesus joao joe joel john johnny jonathan jordan jorge jose joseph josh
    joshua jr juan julian junior karim kevin lars leonardo lewis liam louis luca lucas luis luiz luke manuel marco
    marcos marcus maria mario mark martin mateo matheus matt matteo matthew max michael michel miguel mike mohamed
    mohammad mohammadi mohammed mohammedi moussa muhammad mustafa neto nicolas nikola oliver omar oscar ousmane pablo
    patrick paul paulo pedro peter philip philipp pierre rafael ricardo richard robert roberto rodrigo ruben ryan said
    salem sam samuel santiago scott sebastian sergio simon sr stefan stephen steven thiago thomas tiago tom tomas tommy
    victor vitor white will william youssef yusuf
    """
)
# Words that lead to the name proper. Alone they are words of everyday language, or stand in thousands of names.
_PARTICLES = word_set(
    """
    abd abdel abdul abou abu af al am ap at av aw bin binti d da dal dalla das de degli dei del dela della dello den
    der des di do dos du e el et ibn la las le les lo los mac mala mc o op os saint sainte san sankt sant santa santo
    sao st ste t ten ter the ul ur van ver vom von y zu zum zur
    """
)
# Family names that are words which stand in every other post.
_EVERYDAY_WORDS = word_set(
    """
    all an and any are as ask back bad be best big black but by can day did end est for fue get go goal gol good got ha
    had half has he her him his home how i ich if il in is ist it its juste last long los man me mit more my new next no
    not now of off oh on one or our out per por que qui red run se she si so sur time to too top una und une us var was
    we white who win won yes you
    """
)
# How posts name a scorer. “Can goal” would find “one goal” for a player called One.
_PHRASES_OF_A_GOAL = ("{} scores", "goal by {}", "gol de {}")
# Family names beside given names of two syllables: Son Heung-Min, Min-Jae Kim.
_FAMILY_NAMES_OF_ONE_SYLLABLE = word_set(
    """
    ahn an bae baek bang byun cha chang chen cho choe choi chon chong chung gu gwon ha han heo hong huang hur hwang
    hyun im jang jeon jeong ji jin jo joo ju jung kang ki kil kim ko koh koo kook ku kwak kwon lee li lim lin liu min
    moon mun na nam ng no noh oh paik pak park ri rim roh ryang ryu seo seol shim shin sim sin so son song suh suk sun
    sung tae wang won woo wu yang yeo yeom yi yim yin yoo yoon you yu yun zhang zhao
    """
)


def extract_player_search_names(name: str) -> tuple[str, ...]:
    """The terms that find posts about a player, in the order of the name, with and without accents.

    The family name is always among them, however short. A particle stays with its name (“Di María”), and a name of
    common words only is one term (“João Pedro”): a lone word that fits thousands of players finds everybody's goals.
    Of a family name that is an everyday word and stands alone (“E. Can”) nothing else is known; it is searched as posts
    about a goal have it (“Can scores”). A nickname that everybody uses is a term too, however common it is elsewhere.
    """
    nickname, terms = find_nickname(name), _derive_terms(name)
    if not nickname or fold(nickname) in terms:
        return terms
    plain = list(dict.fromkeys(fold(term).casefold() for term in terms))
    # The nickname takes the place of the first of too many.
    kept = [term for term in terms if len(plain) < MOST_NAME_PARTS or fold(term).casefold() != plain[0]]
    return tuple(dict.fromkeys((*kept, nickname, fold(nickname))))


def _derive_terms(name: str) -> tuple[str, ...]:
    units = _units(_spoken_words(name))
    if not units:
        return ()
    if len(units) == 1 and is_everyday_word(units[0]):
        return tuple(phrase.format(units[0]) for phrase in _PHRASES_OF_A_GOAL)
    family, parts = _split_asian_name(units) or _split_name(units)
    others = sorted((part for part in parts if part != family), key=count_letters, reverse=True)
    kept = {family, *others[: MOST_NAME_PARTS - 1]}
    # Some signs have no plain form.
    return tuple(dict.fromkeys(form for part in parts if part in kept for form in (part, fold(part).strip()) if form))


def is_everyday_word(word: str) -> bool:
    return fold(word).casefold() in _EVERYDAY_WORDS


def is_too_common(term: str) -> bool:
    """Whether a term is a single word that fits too many players, or nobody."""
    plain = fold(term).casefold()
    return "-" not in plain and (plain in _TOO_COMMON or plain in _PARTICLES or is_everyday_word(plain))


def _spoken_words(name: str) -> list[str]:
    words = _words(name)
    spoken = [word for word in words if not _is_initials(word)] or words
    plain = [word for word in (NOT_IN_A_WORD.sub("", word).strip("'-") for word in spoken) if word]
    return [word for word in plain if word.casefold() not in OPERATORS] or plain


def _is_initials(word: str) -> bool:
    return bool(_INITIALS.fullmatch(word)) and word.casefold() not in ("st.", "mc.")


def _words(name: str) -> list[str]:
    normal = unicodedata.normalize("NFC", name).translate({ord("’"): "'", ord("‐"): "-", ord("‑"): "-", ord("–"): "-"})
    return [word for word in re.split(r"[\s,;/()\"]+", normal) if any(char.isalnum() for char in word)]


def _units(words: Sequence[str]) -> list[str]:
    """Join particles with the word they lead to, unless that word says enough alone: Bruyne, but De Paul."""
    units: list[str] = []
    waiting: list[str] = []
    for word in words:
        if fold(word).casefold() in _PARTICLES:
            waiting.append(word)
        else:
            units.append(" ".join((*waiting, word)) if waiting and not _says_enough(word) else word)
            waiting = []
    if waiting:
        # Particles at the end lead nowhere, so they belong to what stands before them.
        units = [*units[:-1], " ".join((*units[-1:], *waiting))]
    return units


def _says_enough(word: str) -> bool:
    return count_letters(word) >= SHORTEST_PART and not is_too_common(word)


def _split_asian_name(units: Sequence[str]) -> tuple[str, list[str]] | None:
    """The family name and all parts of a name such as Son Heung-Min or Heung-Min Son; nothing for other names."""
    first, *others = units
    if len(others) == 2 and _is_syllable_family(first) and all(len(other) <= _LONGEST_SYLLABLE for other in others):
        units = (first, "-".join(others))
    is_family = [_is_syllable_family(unit) for unit in units]
    if len(units) != 2 or sum(is_family) != 1 or not any("-" in unit for unit in units):
        return None
    family = units[is_family.index(True)]
    # One syllable of a given name is in many names: it is searched whole, with and without its hyphen.
    parts = [form for unit in units for form in dict.fromkeys((unit, unit[0] + unit[1:].replace("-", "").lower()))]
    if not is_too_common(family):
        return family, parts
    given = [part for part in parts if part != family]
    return given[0], given


def _is_syllable_family(unit: str) -> bool:
    return fold(unit).casefold() in _FAMILY_NAMES_OF_ONE_SYLLABLE


def _split_name(units: Sequence[str]) -> tuple[str, list[str]]:
    """The family name, or the words that stand for it, and all parts that say enough."""
    parts = [part for unit in units for part in _whole_and_split(unit) if _says_enough(part)]
    last_two = " ".join(units[-2:])
    if all(is_too_common(unit) for unit in units[-2:]):
        return last_two, [*parts, last_two]
    # However short it is, the family name is what posts have.
    if not is_too_common(units[-1]) and (parts or all(is_too_common(unit) for unit in units[:-1])):
        return units[-1], [*parts, units[-1]] if units[-1] not in parts else parts
    return (parts[-1], parts) if parts else (last_two, [last_two])


def _whole_and_split(unit: str) -> list[str]:
    pieces = [piece for piece in unit.split("-") if piece]
    return [unit, *pieces] if len(pieces) > 1 else [unit]
