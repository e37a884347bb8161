"""The numbers of the rule by which two clips show the same scene. Pure."""

from pressbox.core.contracts import Contract


class Evidence(Contract):
    """`run` samples in a row at one constant offset, each within `bits`, and within `mean` on average.

    And within `share` of what the run itself changes: a camera that hardly moves shows much the same all the time.
    """

    run: int
    bits: int
    mean: float
    share: float | None = None
    # The least change, in bits.
    change: float = 0.0


class Detail(Contract):
    """`run` samples in a row whose views differ by at most `mean` bits on average, all views taken together.

    And by at most `share` of what the run itself changes: a camera that stands still shows the same for hours. The
    places are found by the `first` evidence in one view. Fingerprints with fewer than `views` views are not compared.
    """

    first: Evidence
    run: int
    mean: float
    share: float
    views: int


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
    # All views together, for copies that show the whole picture.
    detail: Detail | None = None
    # At which speeds else all views are compared: 2.0 undoes slow motion of one half.
    speeds: tuple[float, ...] = ()


# The rule of Found Footy's document: three in a row within ten bits.
DOCUMENT = MatchRule(evidence=(Evidence(run=3, bits=10, mean=10),), flat_counts=True, thorough=False)

# Chosen by the measurements in docs/adr/0014, docs/adr/0041 and docs/adr/0044.
BETTER = MatchRule(
    evidence=(
        Evidence(run=8, bits=6, mean=3.0, share=0.15),
        Evidence(run=12, bits=9, mean=4.0, share=0.15),
        Evidence(run=12, bits=16, mean=9.0, share=0.22, change=26),
        Evidence(run=16, bits=18, mean=10.0, share=0.22, change=26),
        Evidence(run=20, bits=20, mean=11.0, share=0.22, change=26),
    ),
    variety=12,
    information=8,
    detail=Detail(first=Evidence(run=8, bits=14, mean=8.0), run=8, mean=4.5, share=0.2, views=8),
    speeds=(2.0, 0.8, 1.333),
)
