"""When two clips count as the same scene: the numbers of the rule, without the arithmetic. Pure."""

from pressbox.core.contracts import Contract


class MatchRule(Contract):
    """A run of consecutive samples at one constant offset, each within a few bits, is evidence of one scene.

    `bits` is the largest distance of two samples, `run` how many samples in a row must keep within it, `variety` how
    far at least two samples of the run must lie apart (a picture that stands still is one picture, however long it
    stands). Samples whose hash has fewer ones than `information`, or fewer zeros, carry too little to count.
    """

    bits: int
    run: int
    variety: int = 0
    information: int = 0
    # Whether pictures that the decoder found to be flat count: the document's rule does not ask.
    flat_counts: bool = False
    # All sampling phases of the query, all views (borders removed, cropped) and the mirrored picture, or only the
    # plain frames on the grid of a quarter second.
    thorough: bool = True


DOCUMENT = MatchRule(bits=10, run=3, flat_counts=True, thorough=False)
BETTER = MatchRule(bits=8, run=6, variety=12, information=8)
