"""Splits text into the words of the search index, and knows those that carry no meaning of their own.

Pure. Index and query use the same functions, so that they always agree.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from operator import add

_LISTS = {
    "en": """
        a about above after again against all also am an and any are as at be because been before being below between
        both but by can could did do does doing down during each few for from further get got had has have having he
        her here hers him his how however if in into is it its itself just like made make many may me might more most
        much must my new no nor not now of off on once one only or other our out over own per put said same say says
        she should since so some still such take than that the their them then there these they this those through to
        too two under until up upon us use used using very via was we well were what when where which while who whom
        why will with within without would yet you your
    """,
    "de": """
        ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bereits bis bin da
        dabei damit dann das dass dem den denen denn der deren des dessen deshalb die dies diese diesem diesen dieser
        dieses doch dort du durch ein eine einem einen einer eines einmal er es etwa etwas euch für gegen hat hatte
        hatten haben habe hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in ins ist ja jede jedem
        jeden jeder jedes jetzt kann kein keine keinen keiner konnte können man mehr mein meine mich mir mit muss
        müssen nach neben nicht nichts noch nun nur ob oder ohne schon sehr sei sein seine seinem seinen seiner seit
        sich sie sind so sogar soll sollen sollte sondern sowie um und uns unser unter viel viele vom von vor wann war
        waren was weil weiter welche wenn wer werden wie wieder will wir wird wo worden wurde wurden während zu zum
        zur zwar zwischen über
    """,
    "fr": """
        a ainsi au aussi autre aux avait avant avec avoir c car ce cela ces cet cette ceux chez comme d dans de depuis
        des deux donc dont du elle elles en encore entre est et été être eu fait faire fois il ils j je l la le les
        leur leurs lui mais me même mes moins mon n ne nos notre nous on ont ou où par pas peu peut plus pour quand
        que quel quelle qui quoi s sa sans se sera ses si son sont sous sur ta tant te tous tout toute toutes très tu
        un une vers vos votre vous y
    """,
    "es": """
        a al algo ante antes aquí así aunque bajo cada como con contra cual cuando de del desde donde dos durante e el
        ella ellas ellos en entre era es esa ese eso esta está están este esto estos fue fueron ha había han hasta hay
        la las le les lo los más me mi mientras mismo mucho muy nada ni no nos o os otra otro otros para pero poco por
        porque pues que qué quien se ser si sí sido sin sobre son su sus también tan tanto te tiene todo todos tras tu
        un una uno unos ya yo
    """,
    "it": """
        a ad ai al alla alle allo anche ancora avere c che chi ci come con contro cui da dal dalla dalle dei del della
        delle di dopo dove due e ed era essere fa fra gli ha hanno i il in io l la le lei li lo loro lui ma mi molto
        ne nei nel nella nelle no noi non o ogni per perché più poi prima può qua quando quanto quella quelle quelli
        quello questa queste questi questo qui se sei senza si sia sono sta stata stato su sua sue sui sul sulla suo
        suoi tra tutti tutto un una uno
    """,
    "pt": """
        a ainda ao aos após as até com como contra da das de dele depois do dos e é ela elas ele eles em entre era
        essa esse esta está este eu foi foram há isso isto já la lhe mais mas me mesmo muito na não nas nem no nos
        nossa nosso num numa o onde os ou outra outro para pela pelas pelo pelos por porque quando que quem são se sem
        ser seu seus sob sobre sua suas também tem tinha todo todos um uma você
    """,
    "nl": """
        aan af al alle als altijd ander bij dan dat de der deze die dit doch doen door dus een en er ge geen geweest
        haar had heb hebben heeft hem het hier hij hoe hun ik in is ja je kan kon kunnen maar me meer men met mij mijn
        moet na naar niet nog nu of om omdat onder ons ook op over te tegen toch toen tot uit uw van veel voor want
        waren was wat we wel werd wezen wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou
    """,
}
STOP_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}


# Longer words are noise (encoded data, addresses); a query for one is cut at the same place.
LONGEST_WORD = 64

# Scripts that write without spaces, and Korean, whose words carry their particles.
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
)
# A letter or digit of the other scripts, for patterns over folded text.
LETTER = rf"[^\W_{_UNSPACED}]"
_TOKEN = re.compile(rf"[{_UNSPACED}]+|{LETTER}+(?:(?:\+\+|#)(?!\w))?")
_FIRST_UNSPACED = "\u0e00"
# Composed syllables stay as they are: taking kana and Hangul apart would make other letters of them.
_TO_FOLD = re.compile(rf"[^\x00-\x7f{_UNSPACED}]+")
_HALF_WIDTH_KANA = re.compile("[\uff61-\uff9f]+")


@dataclass(frozen=True)
class Word:
    """A word, or a run of characters of a script without spaces. `position` counts what the index counts."""

    text: str
    position: int
    unspaced: bool


def compose(text: str) -> str:
    """Normalise a text to composed characters, so that each can be folded on its own."""
    if text.isascii():
        return text
    return _HALF_WIDTH_KANA.sub(lambda run: unicodedata.normalize("NFKC", run[0]), unicodedata.normalize("NFC", text))


def fold(text: str) -> str:
    """Remove case, accents and width from a composed text: `Straße` becomes `strasse`, `Ａ` becomes `a`."""
    # After folding nothing beyond ASCII has case, so lowering never changes the length.
    return (text if text.isascii() else _TO_FOLD.sub(lambda run: run[0].translate(_FOLDS), text)).lower()


def fold_lengths(text: str) -> dict[str, int]:
    """Return the characters of a composed text that do not fold to exactly one, with the number they fold to."""
    if text.isascii():
        return {}
    found = {character for character in set(text) if _TO_FOLD.match(character)}
    return {character: len(fold) for character in found if len(fold := _FOLDS[ord(character)]) != 1}


def split_words(text: str) -> Iterator[Word]:
    """Yield the words of a text in order, with the positions that the index counts."""
    position = 0
    for token in _TOKEN.findall(fold(compose(text))):
        unspaced = is_unspaced(token)
        yield Word(token if unspaced else token[:LONGEST_WORD], position, unspaced)
        # A run of n characters takes n positions: its pairs, and its last character alone.
        position += len(token) if unspaced else 1


def to_index_terms(text: str) -> str:
    """Return what the index holds for a composed text: terms separated by spaces."""
    tokens = [
        _indexed_pairs(token) if token >= _FIRST_UNSPACED and is_unspaced(token) else token[:LONGEST_WORD]
        for token in _TOKEN.findall(fold(text))
    ]
    return " ".join(tokens)


def split_pairs(run: str) -> tuple[str, ...]:
    """Return the pairs of a run without spaces; a single character is its own pair."""
    return tuple(run[at : at + 2] for at in range(max(1, len(run) - 1)))


def is_unspaced(token: str) -> bool:
    return _IS_UNSPACED.match(token) is not None


_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


def _indexed_pairs(run: str) -> str:
    # The last character once more, so that every character begins a term and can be searched alone.
    return " ".join((*map(add, run, run[1:]), run[-1]))


class _Folds(dict[int, str]):
    """Caches the fold of each character."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKD", chr(code)).casefold()
        fold = "".join(character for character in plain if not unicodedata.combining(character))
        self[code] = fold
        return fold


_FOLDS = _Folds()
