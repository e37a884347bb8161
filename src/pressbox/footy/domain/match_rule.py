"""When two clips count as the same scene: the numbers of the rule, without the arithmetic. Pure."""

from pressbox.core.contracts import Contract


class Evidence(Contract):
    """So many samples in a row at one constant offset, each within `bits`, together within `mean` on average."""

    run: int
    bits: int
    mean: float


class MatchRule(Contract):
    """Any one of the kinds of evidence is enough: few samples that are very near, or many that are fairly near.

    `variety` is how far at least two samples of the run must lie apart: a picture that stands still is one picture,
    however long it stands. Samples whose hash has fewer ones than `information`, or fewer zeros, never count.
    """

    evidence: tuple[Evidence, ...]
    variety: int = 0
    information: int = 0
    # Whether pictures that the decoder found to be flat count: the document's rule does not ask.
    flat_counts: bool = False
    # All sampling phases of the query, all views (borders removed, cropped) and the mirrored picture, or only the
    # plain frames on the grid of a quarter second.
    thorough: bool = True


# As Found Footy's document has it: three in a row within ten bits.
DOCUMENT = MatchRule(evidence=(Evidence(run=3, bits=10, mean=10),), flat_counts=True, thorough=False)

# docs/adr/0014 has the table that these numbers were chosen by.
BETTER = MatchRule(
    evidence=(
        Evidence(run=6, bits=6, mean=3.0),
        Evidence(run=8, bits=9, mean=4.5),
        Evidence(run=12, bits=13, mean=7.5),
        Evidence(run=16, bits=16, mean=9.0),
    ),
    variety=12,
    information=8,
)
