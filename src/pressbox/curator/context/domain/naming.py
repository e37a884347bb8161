"""Words around names, in the languages that most feeds are written in: what hints at a name, and what only looks so.

Pure.
"""

from collections.abc import Mapping

from pressbox.curator.context.domain.context import EntityKind


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
