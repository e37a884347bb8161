"""Marks beside a clock: halves and extra time in the languages of broadcasts, and words that make it no clock. Pure.

Texts are in capitals and in the compatible form of Unicode: 2º has become 2O, and 2ª has become 2A.
"""

import re
from enum import StrEnum


class Period(StrEnum):
    FIRST_HALF = "1H"
    SECOND_HALF = "2H"
    EXTRA_TIME = "ET"


# Half, by itself and in short, in the languages of the leagues.
_HALF = (
    r"(?:HALF|HALBZEIT|HZ|HBZ|TEMPO|TIEMPO|TEMPS|MI-?TEMPS|MT|TIME|HELFT|DEVRE|YARI|PO[LŁ]OWA|PARTE|PART|OMGANG|HALVLEK|"
    r"HALVLEG|PUOLIAIKA|POLUVREME|POLUVRIJEME|POLOCAS|POLOČAS|F[EÉ]LID[OŐ]|REPRIZA|ТАЙМ)"
)
_ORDINAL = r"(?:ST|ND|ER|[EÈ]ME|NDE|RE|DA|DO|[OAEIªº°.])?\.?"
_ORDINAL_SIGN = r"[OAE°.]"
_FIRST_WORD = r"(?:FIRST|ERSTE|PRIMER|PRIMERA|PRIMO|PRIMEIRO|PRIMEIRA|PREMI[EÈ]RE|EERSTE)"
_SECOND_WORD = r"(?:SECOND|ZWEITE|SEGUNDO|SEGUNDA|SECONDO|SECONDE|DEUXI[EÈ]ME|TWEEDE)"


def _half(number: int, roman: str, word: str, mark: str, short: str) -> re.Pattern[str]:
    ordinal = "1ST" if number == 1 else "2ND"
    forms = (
        rf"{number}{_ORDINAL} ?{_HALF}",
        rf"{number}(?:{_ORDINAL_SIGN} ?)?[HT]",
        rf"{roman} ?(?:{_HALF}|T)",
        rf"{word} ?{_HALF}",
        rf"(?:H|T|HZ|MT){number}(?!\d)",
        ordinal,
        mark,
        # Primer and segundo tiempo, as in Argentina; ST is also part of names.
        rf"{short}(?=$| ?\d{{1,3}} ?[:.;]\d)",
    )
    return re.compile(rf"(?<![A-Z\d])(?:{'|'.join(forms)})(?![A-ZА-Я])(?! ?LEG)")


PERIODS: tuple[tuple[re.Pattern[str], Period], ...] = (
    (
        re.compile(
            r"(?<![A-Z\d])(?:A?ET(?:[12](?!\d))?|[12] ?ET|OT|[12] ?(?:TS|PRORR?|PROL)|TS ?[12]?(?!\d)|PRORR?OGA|"
            r"PR[OÓ]RROGA|PRORROGA[CÇ][AÃ]O|PROLONGATIONS?|SUPPLEMENTARI|VERL(?:[AÄ]NGERUNG)?\.?|EXTRA ?TIME)(?![A-Z])"
        ),
        Period.EXTRA_TIME,
    ),
    (_half(1, "I", _FIRST_WORD, "前半", "PT"), Period.FIRST_HALF),
    (_half(2, "II", _SECOND_WORD, "後半", "ST"), Period.SECOND_HALF),
)
BREAK = re.compile(
    r"(?<![A-Z])(?:HT|FT|HALF[ -]?TIME|FULL[ -]?TIME|HALBZEIT(?:PAUSE)?|INTERVALO?|DESCANSO|MI-TEMPS|RUST)(?![A-Z])"
)
# Words that announce the kick-off: no time in such a picture is that of a match.
KICK_OFF = re.compile(
    r"(?<![A-Z])(?:KICK[ -]?OFF|K\.?O\.?|ANPFIFF|ANSTO(?:SS|ẞ)|COUP D'ENVOI|(?:CALCIO|FISCHIO) D'INIZIO|INIZIO|INICIO|"
    r"COMIENZO|COMIENZA|AFTRAP|AVSPARK|BA[SŞ]LAMA|TONIGHT|HEUTE|CE SOIR|COMING UP|UP NEXT)(?![A-Z])"
)
# Beside a time, they make it one of the day.
TIME_OF_DAY = re.compile(
    rf"{KICK_OFF.pattern}|(?<![A-Z])(?:BEGINN|UHR|ORE|HORA|HOY|TODAY|TOMORROW|MORGEN|STARTS?|FROM|LIVE AT|NEXT|CET|"
    r"CEST|GMT|BST|UTC|HRS)(?![A-Z])"
)
# The score, which every scorebug has once there is a match clock.
SCORE = re.compile(r"(?<![\d:.+])\d{1,2} ?[-–—:] ?\d{1,2}(?![\d:.])|(?<!\S)\d \d(?!\S)")
GOALS = re.compile(r"\d{1,2}")
_KICK_OFF_MINUTES = (0, 15, 30, 45)
_KICK_OFF_HOURS = range(11, 24)


def looks_like_kick_off(hours: int, minutes: int | None) -> bool:
    """Whether a time could be that of a kick-off, such as 20:45."""
    return hours in _KICK_OFF_HOURS and minutes in _KICK_OFF_MINUTES
