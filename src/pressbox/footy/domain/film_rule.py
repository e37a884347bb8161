"""When two films show the same scene, once one of them has been laid over the other. Pure.

Two goals of one broadcast share stadium and camera. So pictures that agree prove nothing; what moves in them does,
when it agrees all the time for some seconds.
"""

from collections.abc import Iterable

from pressbox.core.contracts import Contract


class Agreement(Contract):
    """How well two films agree for some seconds, laid over each other in one way.

    All shares are correlations, at best 1: `moving` of everything that moves apart from the camera, over the whole
    time; `least` the same in its poorest half second; `still` of the poorest pair of pictures.
    """

    seconds: float
    moving: float
    least: float
    still: float
    # When it begins in the query. Reference time = speed × query time + offset, in seconds.
    begin: float = 0.0
    offset: float = 0.0
    speed: float = 1.0


class FilmEvidence(Contract):
    """What an agreement of `seconds` must reach at least."""

    seconds: float
    moving: float
    least: float
    still: float

    def is_met_by(self, found: Agreement) -> bool:
        return (
            found.seconds >= self.seconds
            and found.moving >= self.moving
            and found.least >= self.least
            and found.still >= self.still
        )


class FilmRule(Contract):
    """Any one kind of evidence is enough: a short time of much agreement, or a long time of less."""

    evidence: tuple[FilmEvidence, ...]

    @property
    def lengths(self) -> tuple[float, ...]:
        """The seconds for which films are compared."""
        return tuple(sorted({kind.seconds for kind in self.evidence}))


# Chosen by the measurements in docs/adr/0054.
FILMS = FilmRule(
    evidence=(
        FilmEvidence(seconds=1.5, moving=0.92, least=0.86, still=0.95),
        FilmEvidence(seconds=2.0, moving=0.88, least=0.8, still=0.88),
        FilmEvidence(seconds=2.0, moving=0.92, least=0.88, still=0.7),
        FilmEvidence(seconds=3.0, moving=0.76, least=0.62, still=0.82),
        FilmEvidence(seconds=3.0, moving=0.86, least=0.78, still=0.5),
        FilmEvidence(seconds=4.0, moving=0.62, least=0.46, still=0.78),
        # Pictures that agree nearly everywhere all the time: small players before a camera that hardly moves.
        FilmEvidence(seconds=2.0, moving=0.58, least=0.52, still=0.96),
        FilmEvidence(seconds=3.0, moving=0.54, least=0.48, still=0.96),
        FilmEvidence(seconds=4.0, moving=0.5, least=0.44, still=0.96),
    )
)


class Way(Contract):
    """How the picture of the query was laid over the reference."""

    mirrored: bool = False
    # Degrees, positive when the query is turned clockwise.
    turned: float = 0.0
    # Which share of its own picture either film shows of the other.
    query_share: float = 1.0
    reference_share: float = 1.0


class Sighting(Contract):
    """Two films that show one scene, and how one sees the other."""

    way: Way
    agreement: Agreement


_LEAST_TURN = 1.5
_WHOLE = 0.85
_LEAST_SPEED_CHANGE = 0.02


def best_agreement(found: Iterable[Agreement], rule: FilmRule = FILMS) -> Agreement | None:
    """The longest agreement that is evidence of one scene, or None."""
    enough = [each for each in found if any(kind.is_met_by(each) for kind in rule.evidence)]
    return max(enough, key=lambda each: (each.seconds, each.moving), default=None)


def describe(sighting: Sighting) -> str:
    """Say what had to be undone to see the same scene."""
    way, speed = sighting.way, sighting.agreement.speed
    undone = []
    if way.mirrored:
        undone.append("a mirror")
    if abs(way.turned) >= _LEAST_TURN:
        undone.append(f"a turn of {abs(way.turned):.0f} degrees")
    if way.reference_share < _WHOLE:
        undone.append(f"a crop to {way.reference_share:.0%}")
    if way.query_share < _WHOLE:
        undone.append(f"a frame that leaves it {way.query_share:.0%}")
    if abs(speed - 1) >= _LEAST_SPEED_CHANGE:
        undone.append(f"another speed ({speed:g} times)")
    return ", ".join(undone) or "compression or cuts"
