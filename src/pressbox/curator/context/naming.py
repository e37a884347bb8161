"""Words around names, in the languages that most feeds are written in: what hints at a name, and what only looks so.

Pure.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from pressbox.curator.context.domain import EntityKind


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Stand inside a name, between two of its words.
CONNECTORS = _words("of de la le les du des der den von vom van del della di da do dos das ter zu zur & el al ibn bin")
# In German most of these are articles, and a noun with an article is no name.
GERMAN_CONNECTORS = _words("von van de & al ibn bin")
# After one of those: "von der Leyen".
SECOND_CONNECTORS = _words("der den la los las dem")

# Written large and no names, or names that every other article has: days, months, peoples, units.
NO_NAMES = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec
    montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember
    american americans british english french german germans italian spanish portuguese dutch swiss austrian russian
    ukrainian polish chinese japanese korean indian israeli palestinian european europeans african asian arab arabic
    latin greek turkish canadian australian mexican brazilian irish scottish swedish norwegian danish finnish jewish
    christian christians muslim muslims catholic français allemand español italien
    am pm utc gmt est edt pst pdt cet cest usd eur gbp ok id url html http https www pdf faq tv dvd cd pc rss ceo cto
    cfo
    ii iii iv vi vii viii ix xi xii xiii xiv xv mr mrs ms dr prof sir lord lady herr frau monsieur madame
    god internet web oh yes no hi hey okay please thanks note update updated edit figure table chapter section page
    part step image photo picture source sources references see also comments comment share copyright
    i i'm i've i'll i'd it's we're don't can't won't isn't doesn't didn't that's there's let's you're they're
    """
)

# Commands of databases, protocols and programs are written in large letters, and are no names.
KEYWORDS = _words(
    """
    SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE ALTER DROP TABLE VIEW INDEX JOIN LEFT RIGHT INNER
    OUTER CROSS FULL ON USING GROUP ORDER BY HAVING LIMIT OFFSET FETCH UNION ALL EXCEPT DISTINCT AS AND OR NOT NULL IS
    IN LIKE BETWEEN EXISTS CASE WHEN THEN ELSE END BEGIN COMMIT ROLLBACK WITH RECURSIVE RETURNING COUNT SUM AVG MIN MAX
    ASC DESC PRIMARY FOREIGN KEY REFERENCES UNIQUE CHECK DEFAULT CONSTRAINT CASCADE GRANT REVOKE TRIGGER FUNCTION
    RETURNS RETURN EXPLAIN ANALYZE VACUUM LATERAL OVER PARTITION WINDOW ROWS RANGE COALESCE CAST TRUE FALSE FILL SAMPLE
    LATEST GET POST PUT HEAD PATCH TODO FIXME IF FOR WHILE DO PRINT ECHO EXIT ENV RUN COPY
    """
)

# The word before a name, and what it is a name of.
TITLES = _words(
    """
    mr mrs ms miss dr prof professor president chancellor minister senator governor judge justice mayor king queen
    prince
    princess pope captain general colonel sir lord lady dame representative congressman congresswoman secretary
    herr frau präsident präsidentin kanzler kanzlerin bundeskanzler bundeskanzlerin ministerin bürgermeister
    professorin richter richterin m mme monsieur madame président présidente ministre señor señora presidente ministro
    """
)
SAYING = _words(
    """
    said says told wrote writes added argued explained tweeted sagte sagt erklärte schrieb schreibt betonte
    dit déclare expliqué dijo dice afirma disse afirmou
    """
)
LAST_WORDS: Mapping[EntityKind, frozenset[str]] = {
    EntityKind.ORGANISATION: _words(
        """
        inc corp corporation company co ltd llc plc gmbh ag se kg ev university college institute ministry department
        agency bank foundation party council committee commission union association society federation group institut
        universität hochschule ministerium bundesministerium verein verband partei stiftung bundesamt amt gesellschaft
        université ministère universidad universidade banco fundación court office bureau times post team
        laboratory labs
        """
    ),
    EntityKind.PLACE: _words(
        """
        river lake mount mountain mountains island islands street avenue road airport bay valley park county province
        city ocean sea peninsula square fluss see straße platz insel berg
        """
    ),
    EntityKind.EVENT: _words(
        "conference summit festival olympics championship cup war election elections treaty konferenz"
    ),
    EntityKind.PERSON: _words("jr sr"),
}
FIRST_WORDS: Mapping[EntityKind, frozenset[str]] = {
    EntityKind.ORGANISATION: _words(
        "university ministry department bank institute universität institut ministerium bundesamt université ministère "
        "universidad universidade banco federal supreme"
    ),
    EntityKind.PLACE: _words("mount lake river fort port saint san santa"),
}

# Before a version these are parts of a document or of a contest, and no programs.
NUMBERED_THINGS = _words(
    """
    version release section chapter figure table part article paragraph appendix step item page volume rfc euro
    abschnitt kapitel abbildung tabelle artikel absatz seite teil release über rund fast about over nearly under
    zahl zahlen wert werte nummer anzahl stufe faktor kurs punkt quote note index number value level factor score
    """
)
# "the Flask framework", "das Framework Flask".
PROGRAMS = _words(
    """
    library framework compiler kernel browser database toolkit runtime interpreter sdk bibliothek datenbank
    programmiersprache
    """
)
INSTALLERS = _words("pip pip3 pipx npm yarn pnpm cargo gem apt apt-get brew dnf go uv composer docker")
INSTALLING = _words("install add get pull i require")

# Before a German noun these stand; before a name they seldom do.
GERMAN_BEFORE_NOUNS = _words(
    """
    der die das dem den des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine dein deine sein
    seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren euer dieser diese dieses diesen diesem
    jeder jede jedes jeden jedem jener welche welcher welches manche viele wenige alle allen aller einige mehrere beide
    zum zur im am vom beim ins ans pro je kaum etwas mehr weniger viel wenig ohne per zwei drei vier fünf sechs sieben
    acht neun zehn elf zwölf hundert tausend und oder als zu mit für
    """
)
GERMAN_NOUN_ENDINGS = tuple(
    _words(
        "ung ungen heit heiten keit keiten schaft schaften tion tionen ismus tät täten nis nisse ment ling tum chen "
        "lein ieren barkeit weise zeug werk arbeit zeit jahr jahre tag tage seite leute mann frauen kinder"
    )
)
GERMAN_ADJECTIVE_ENDINGS = ("en", "er", "es", "em", "te", "ne", "le", "he", "ge", "re", "se", "ue", "ie", "ve")


_SOFTWARE_SHAPE = re.compile(
    r"[\w-]{2,30}\.(?:js|py|rs|go|net|io)|(?:Post|My)\w*SQL|\w{2,20}SQL|lib[a-z]{2,20}", re.ASCII
)
_VERSION = re.compile(
    r" v?\d{1,3}\.\d{1,3}\b"
    r"(?! ?(?:%|percent|Prozent|million|Mill|billion|Mrd|[°€$£]|per\b|points|GHz|GB|TB|mm|cm|km|kg))"
)


def guess_kind(words: tuple[str, ...], before: str, after: str, rest: str) -> EntityKind | None:
    """`rest` is what follows the name in its sentence, as it is written."""
    last, first = words[-1].lower().strip("."), words[0].lower().strip(".")
    for kind, known in LAST_WORDS.items():
        if len(words) > 1 and last in known:
            return kind
    for kind, known in FIRST_WORDS.items():
        if len(words) > 1 and first in known:
            return kind
    if _is_program(words, before, after, rest):
        return EntityKind.SOFTWARE
    told = before.lower() in SAYING and len(words) > 1
    people = told or before.lower().strip(".") in TITLES or after.lower() in SAYING
    return EntityKind.PERSON if people and all(_looks_like_name(word) for word in words) else None


def can_begin_name(word: str) -> bool:
    return any(word.lower() in known for known in FIRST_WORDS.values())


def looks_like_software(name: str) -> bool:
    return _SOFTWARE_SHAPE.fullmatch(name) is not None


def _is_program(words: tuple[str, ...], before: str, after: str, rest: str) -> bool:
    if words[0].lower() in NUMBERED_THINGS or len(words) > 3:
        return False
    if _VERSION.match(rest) or looks_like_software(words[-1]):
        return True
    directly = bool(after) and rest.startswith(f" {after}")
    return len(words) == 1 and (before.lower() in PROGRAMS or (directly and after.lower() in PROGRAMS))


def _looks_like_name(word: str) -> bool:
    return (
        word[:1].isupper() and not word.isupper() and word.replace("-", "").replace("'", "").replace(".", "").isalpha()
    )


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


def find_lowercase_words(sentences: Sequence[str]) -> frozenset[str]:
    return frozenset(word for sentence in sentences for word in WORD.findall(sentence) if word.islower())


def find_openers(sentences: Sequence[str]) -> frozenset[str]:
    """Words that begin several sentences or lines and are large nowhere else: "Added" in a list of changes."""
    opening: Counter[str] = Counter()
    inside: set[str] = set()
    for sentence in sentences:
        words = WORD.findall(sentence)
        opening.update(plain(word) for word in words[:1])
        inside.update(plain(word) for word in words[1:] if word[0].isupper())
    return frozenset(word for word, count in opening.items() if count >= A_SERIES and word not in inside)


def measure_article_rate(sentences: Sequence[str]) -> dict[str, float]:
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
