"""Names under which people write about a team: from catalogues, and from its own name where no catalogue has it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pressbox.footy.domain.names import SHORTEST_PART, count_letters, fold, word_set

MOST_ALIASES = 8
LONGEST_ALIAS = 40
_MOST_ALIAS_WORDS = 4


@dataclass(frozen=True)
class KnownName:
    """A name of a team from a catalogue. `main` is its label, as opposed to an alias.

    `proven` names are those of which we know that fans use them, even where they fit other clubs too (OM, VfB, River).
    """

    text: str
    language: str = "en"
    main: bool = False
    proven: bool = False


def rank_aliases(team: str, known: Iterable[KnownName], limit: int = MOST_ALIASES) -> tuple[str, ...]:
    """The names under which people write about a team, the most useful first; the team's own name is always included.

    Leaves out names that are too long to type, in another script, with years, or that fit any club.
    """
    own = strip_legal_form(" ".join(team.split()))
    counted: dict[str, tuple[str, int]] = {}
    for candidate in known:
        # Nobody types a stroke inside a name: Bodø Glimt.
        text = strip_legal_form(" ".join(candidate.text.replace("/", " ").split()))
        key = _key(text)
        if (candidate.proven or _is_usable(text)) and key != _key(own):
            spelling, weight = counted.get(key, (text, 0))
            counted[key] = (spelling, weight + _weight(candidate, text))
    ranked = sorted(counted.items(), key=lambda item: (-item[1][1], len(item[1][0]), item[0]))
    others = tuple(spelling for _, (spelling, _) in ranked)
    return ((own, *others) if own else others)[:limit]


# Words in the names of clubs that do not tell which club it is.
_LEGAL_FORMS = word_set(
    """
    fc f.c. afc a.f.c. cf c.f. sc s.c. ac a.c. as a.s. cd c.d. ud u.d. rc r.c. sv bv fk nk sk sd club ssc s.s.c. ss
    s.s. us u.s. bc b.c. tsv vfl vfb tsg jk if bk ff ca cp rcd calcio futbol football fussball association de the e.v.
    ev kv kaa krc ogc ogcn losc rsc vv gnk hnk mfk
    """
)
_ANY_CLUB = word_set(
    """
    united city town rovers wanderers athletic athletico atletico real sporting inter dynamo dinamo olympique rangers
    albion county racing deportivo nacional national team national-team men women reds blues whites blacks
    greens yellows lions eagles tigers bears the first football soccer club clubs
    """
)
# More words that stand in the names of many clubs, in the languages of the leagues that most people follow.
_MANY_CLUBS = word_set(
    """
    academica america argentino asociacion associacao associazione atletica bayer boys bull central circolo civil
    clube comercial deportes deportiva desportiva desportivo desportos east esporte esportiva esportivo estrela
    estudiantes ferroviaria forest futebol gimnasia green guarani independiente internacional international jong juniors
    juventude kings kulubu north norte operario palace park polisportiva portuguesa queens recreativo river royal saint
    santa santo sao social sociedad sociedade societa south spor sport sportiva sports star union unione uniao
    universidad universitario vale victoria vitoria wednesday west white
    """
)
# Cities with several clubs: their name alone is nobody's.
_SHARED_CITIES = word_set(
    """
    amsterdam belgrade birmingham bristol bucharest buenos-aires cordoba dundee glasgow istanbul lisboa lisbon
    liverpool london madrid manchester milan milano moscow nottingham porto rosario rotterdam santiago sheffield
    """
)
# The second half of names that nobody needs: Ipswich, Norwich, Blackburn.
_ENGLISH_ENDINGS = word_set(
    """
    albion alexandra argyle athletic borough city county dons harriers hotspur orient rovers stanley town united
    wanderers
    """
)
_BRITISH = word_set("england scotland wales ireland northern-ireland")
# Parts of a club that play for themselves, as football data marks them, and as people do.
_SECTION = re.compile(
    r"""\ (?:\(?(?P<women>w|women|woman|ladies|femenin[oa]|feminin[oa]|f[eé]minin(?:es?)?|femminile|frauen|fem\.?)\)?
    |\(?(?P<other>u-?\d\d|under-?\d\d|ii|iii|b|reserves?|youth|academy)\)?)$""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class Section:
    """The club a team belongs to, and whether it is its women's team or, with a `mark`, a youth or reserve team."""

    club: str
    women: bool = False
    other: bool = False
    mark: str = field(default="", compare=False)

    @property
    def is_first_team(self) -> bool:
        return not self.women and not self.other

    @property
    def name(self) -> str:
        """What people call the team: Chelsea Women, Germany U21."""
        return " ".join(filter(None, (strip_legal_form(self.club), self.mark, "Women" if self.women else "")))


def split_section(team: str) -> Section:
    """Tell “Chelsea W” from “Chelsea”, and “Barcelona B” from “Barcelona”."""
    club, women, marks = " ".join(team.split()), False, list[str]()
    while match := _SECTION.search(club):
        women = women or bool(match["women"])
        if match["other"]:
            marks.insert(0, match["other"])
        club = club[: match.start()].rstrip()
    return Section(club, women, bool(marks), " ".join(marks))


def derive_aliases(team: str, country: str = "", limit: int = MOST_ALIASES) -> tuple[str, ...]:
    """What people may call a team that no catalogue has, made from its name alone."""
    section = split_section(team)
    spoken = section.club.replace("/", " ").split()
    words = [word for word in spoken if not _is_filler(word)]
    if all(fold(word).casefold() in _ANY_CLUB for word in words):
        words = spoken
    names = [" ".join(words), section.club]
    if not section.is_first_team:
        names.insert(1, section.name)
    if len(words) > 1:
        names += [word for word in words if _tells_a_club(word)]
    # LFC is the first team of Liverpool.
    if fold(country).casefold() in _BRITISH and section.is_first_team:
        names += _british_initials(words)
    distinct = {_key(name): name for name in reversed(names) if name}
    return tuple(reversed(distinct.values()))[:limit]


def _is_filler(word: str) -> bool:
    plain = fold(word).casefold().strip(".,")
    return plain in _LEGAL_FORMS or not any(char.isalpha() for char in plain) or (len(plain) <= 2 and word.isupper())


def _tells_a_club(word: str) -> bool:
    plain = fold(word).casefold()
    if plain in _ANY_CLUB or plain in _MANY_CLUBS or plain in _SHARED_CITIES or plain in _ENGLISH_ENDINGS:
        return False
    return count_letters(word) >= SHORTEST_PART or (count_letters(word) == 3 and word.isupper())


def _british_initials(words: Sequence[str]) -> list[str]:
    """LFC, NCFC: the initials with which fans tag their club."""
    initials = "".join(word[0] for word in words if word[0].isalpha()).upper()
    return [f"{initials}FC"] if 1 <= len(initials) <= 3 else []


# Abbreviations of tables (Bor. Dortmund), which nobody types; but not St.
_SHORTENED = re.compile(r"\b(?!St\.)[A-Za-z]+\.")
_YEARS = re.compile(r"\b(1[89]|20)\d\d\b")


def _is_usable(text: str) -> bool:
    plain = fold(text)
    if not plain.isascii() or _YEARS.search(plain):
        return False
    words = plain.casefold().split()
    letters = sum(char.isalpha() for char in plain)
    if letters < 2 or len(text) > LONGEST_ALIAS or len(words) > _MOST_ALIAS_WORDS:
        return False
    if any(char in text for char in '()[]{}/\\:;"'):
        return False
    if _SHORTENED.search(plain) and not plain.replace(".", "").isupper():
        return False
    # Three capitals name a club (LFC, BVB); two, or three small letters, are a word of some language.
    if letters <= 3 and not (letters == 3 and text.replace(".", "").isupper()):
        return False
    return not all(word in _ANY_CLUB or word in _LEGAL_FORMS for word in words)


def _weight(candidate: KnownName, text: str) -> int:
    english = candidate.language.partition("-")[0] in ("en", "mul")
    is_abbreviation = text.isupper() and len(text) <= 4
    return 1 + 4 * candidate.main + 4 * english + 3 * ((is_abbreviation or candidate.proven) and english)


def strip_legal_form(text: str) -> str:
    """Shorten “Liverpool FC” to “Liverpool”, unless too little or a word for any club would be left."""
    words = text.split(" ")
    while len(words) > 1 and words[-1].casefold() in _LEGAL_FORMS:
        words = words[:-1]
    while len(words) > 1 and words[0].casefold() in _LEGAL_FORMS:
        words = words[1:]
    rest = " ".join(words)
    if count_letters(rest) < SHORTEST_PART or all(word.casefold() in _ANY_CLUB for word in words):
        return text
    return rest


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", fold(text).casefold()) or text.casefold()
