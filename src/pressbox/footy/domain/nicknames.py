"""Names that fans everywhere use for a player and that no rule makes from the name. Pure.

Our own list. A nickname is found under the whole name, and under an initial (“T. Alexander-Arnold”) where the family
name tells who it is: a “B. Silva” may be anybody.
"""

from functools import cache

from pressbox.footy.domain.names import fold

# Under the whole name only.
_OF_WHOLE_NAMES = {
    "Bernardo Silva": "Bernardo",
    "Bruno Fernandes": "Bruno",
    "Bruno Guimarães": "Bruno",
    "Cristiano Ronaldo": "CR7",
    "Federico Valverde": "Fede",
    "Gabriel Magalhães": "Gabriel",
    "Hirving Lozano": "Chucky",
    "Javier Hernández": "Chicharito",
    "Julián Álvarez": "Julián",
    "Vinícius Júnior": "Vini",
}
_OF_FAMILY_NAMES = {
    "Achraf Hakimi": "Achraf",
    "Alexis Mac Allister": "Macca",
    "Dominic Calvert-Lewin": "DCL",
    "Dominik Szoboszlai": "Szobo",
    "Emile Smith Rowe": "ESR",
    "James Ward-Prowse": "JWP",
    "Kevin De Bruyne": "KDB",
    "Khvicha Kvaratskhelia": "Kvara",
    "Kiernan Dewsbury-Hall": "KDH",
    "Pierre-Emerick Aubameyang": "Auba",
    "Robert Lewandowski": "Lewy",
    "Trent Alexander-Arnold": "Trent",
    "Virgil van Dijk": "VVD",
}


def find_nickname(name: str) -> str:
    """The nickname of a player as football data names him; empty where there is none."""
    return _known().get(_plain(name), "")


@cache
def _known() -> dict[str, str]:
    """Nicknames under plain names, whole and with one or all initials: P. Aubameyang, P.-E. Aubameyang."""
    known = {_plain(name): nickname for name, nickname in (_OF_WHOLE_NAMES | _OF_FAMILY_NAMES).items()}
    for name, nickname in _OF_FAMILY_NAMES.items():
        given, _, family = name.partition(" ")
        initials = [part[0] for part in given.split("-")]
        known |= {_plain(f"{initials[0]} {family}"): nickname, _plain(f"{' '.join(initials)} {family}"): nickname}
    return known


def _plain(name: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in fold(name).casefold()).split())
