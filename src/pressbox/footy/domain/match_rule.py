"""The numbers of the rule by which two clips show the same scene. Pure."""

from pressbox.core.contracts import Contract


class Evidence(Contract):
    """`run` samples in a row at one constant offset, each within `bits`, and within `mean` on average."""

    run: int
    bits: int
    mean: float


class MatchRule(Contract):
    """Any one kind of evidence is enough: few samples that are very close, or many that are fairly close.

    At least two samples of the run must be `variety` bits apart, because a still picture proves nothing. Samples whose
    hash has fewer ones or zeros than `information` never count.
    """

    evidence: tuple[Evidence, ...]
    variety: int = 0
    information: int = 0
    # Whether flat pictures count, as in the document's rule.
    flat_counts: bool = False
    # Compare all sampling phases of the query, all views (borders removed, cropped) and the mirrored picture; otherwise
    # only the plain frames at every quarter second.
    thorough: bool = True
    # At which speeds else a thorough comparison plays the query: 2.0 undoes slow motion of one half.
    speeds: tuple[float, ...] = ()
    # Only near samples count there: every further speed is another chance for two goals of one broadcast to look alike.
    evidence_at_speeds: tuple[Evidence, ...] = ()


# The rule of Found Footy's document: three in a row within ten bits.
DOCUMENT = MatchRule(evidence=(Evidence(run=3, bits=10, mean=10),), flat_counts=True, thorough=False)

# Chosen by the measurements in docs/adr/0014 and docs/adr/0041.
BETTER = MatchRule(
    evidence=(
        Evidence(run=6, bits=6, mean=3.0),
        Evidence(run=8, bits=9, mean=4.5),
        Evidence(run=12, bits=12, mean=6.0),
        Evidence(run=18, bits=16, mean=9.0),
    ),
    variety=12,
    information=8,
    speeds=(2.0, 0.8),
    evidence_at_speeds=(Evidence(run=6, bits=6, mean=3.0), Evidence(run=8, bits=9, mean=4.5)),
)
