"""`pressbox bench match`: comparisons of clips per second, compared with a plain Python loop."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np

from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.footy.domain.fingerprints import PHASES, REFERENCE_STEP, VIEWS, Fingerprint, pack
from pressbox.footy.domain.match_rule import BETTER, DOCUMENT, Evidence
from pressbox.footy.domain.same_scene import match
from pressbox.footy.domain.scene_screen import find_matching

SECONDS = 60
STORED = 1_000
TIMES_FASTER_AIM = 50.0
PLAIN_AIM_MS = 0.2
MANY_AIM_SECONDS = 0.3
# The bits that a moving camera changes from one sample to the next, a twelfth of a second later.
_BITS_PER_SAMPLE = 5


def run_match(say: Say, stored: int = STORED, seconds: int = SECONDS) -> Report:
    """Takes about a minute. The fingerprints are made up; their hashes change from sample to sample like real ones."""
    machine = describe_machine()
    samples = round(seconds / REFERENCE_STEP)
    query = make_fingerprint(0, samples)
    few = [make_fingerprint(number, samples).reference() for number in range(1, 65)]
    say("A plain loop")
    plain = _measure_rate(lambda reference: match_slowly(query, reference, DOCUMENT.evidence[0]), few[:2])
    say("The document's rule")
    document = _measure_rate(lambda reference: match(query, reference, DOCUMENT), few * 5)
    say("Our rule")
    better = _measure_rate(lambda reference: match(query, reference, BETTER), few[:16])
    short = [make_fingerprint(number, samples // 4).reference() for number in range(1, 9)]
    brief = make_fingerprint(0, samples // 4)
    better_short = _measure_rate(lambda reference: match(brief, reference, BETTER), short * 2)
    say(f"One clip against {stored:,}")
    many = {number: few[number % len(few)] for number in range(stored)}
    document_many = stored / _measure_rate(lambda reference: match(query, reference, DOCUMENT), list(many.values()))
    one_by_one = stored / _measure_rate(lambda reference: match(query, reference, BETTER), list(many.values()))
    began = time.process_time()
    find_matching(query, many, BETTER)
    better_many = time.process_time() - began
    figures = (
        Figure(
            name="document's rule",
            value=document,
            unit="pairs per second",
            better=Better.HIGHER,
            peer=plain,
            peer_name="plain Python loop",
            aim=TIMES_FASTER_AIM * plain,
            note=f"clips of {seconds} s",
        ),
        Figure(name="document's rule, one pair", value=1000 / document, unit="ms", aim=PLAIN_AIM_MS),
        Figure(
            name="our rule, one pair",
            value=1000 / better,
            unit="ms",
            note=f"{PHASES} phases, {len(VIEWS)} views, mirrored, {len(BETTER.evidence)} kinds of evidence",
        ),
        Figure(name=f"our rule, one pair of {seconds // 4} s", value=1000 / better_short, unit="ms"),
        Figure(name=f"one against {stored:,}, document's rule", value=document_many, unit="s"),
        Figure(
            name=f"one against {stored:,}, our rule",
            value=better_many,
            unit="s",
            peer=one_by_one,
            peer_name="the rule without a screen",
            aim=MANY_AIM_SECONDS,
        ),
        Figure(
            name="stored per clip",
            value=len(pack(query)) / 1000,
            unit="kB",
            note=f"{seconds} s, {PHASES} phases, {len(VIEWS)} views; one phase: {len(pack(few[0])) / 1000:.0f} kB",
        ),
    )
    return Report(name="match", measured_at=datetime.now(UTC), machine=machine, figures=figures)


def make_fingerprint(seed: int, samples: int) -> Fingerprint:
    """Make hashes in three phases that change a little from one to the next."""
    random = np.random.default_rng(seed)
    shape = (len(VIEWS), samples * PHASES)
    steps = np.zeros(shape, dtype=np.uint64)
    for _ in range(_BITS_PER_SAMPLE):
        steps ^= np.uint64(1) << random.integers(0, 64, shape, dtype=np.uint64)
    steps[:, 0] = random.integers(0, 2**64, len(VIEWS), dtype=np.uint64)
    return Fingerprint(np.bitwise_xor.accumulate(steps, axis=1), np.ones(shape, dtype=bool), PHASES)


def match_slowly(query: Fingerprint, reference: Fingerprint, evidence: Evidence) -> bool:
    """Compare in the straightforward way: every offset, sample by sample."""
    left = [int(value) for value in query.reference().hashes[0]]
    right = [int(value) for value in reference.hashes[0]]
    for offset in range(1 - len(left), len(right)):
        run = 0
        for index in range(max(0, -offset), min(len(left), len(right) - offset)):
            run = run + 1 if (left[index] ^ right[index + offset]).bit_count() <= evidence.bits else 0
            if run >= evidence.run:
                return True
    return False


def _measure_rate(compare: Callable[[Fingerprint], object], references: list[Fingerprint]) -> float:
    """Comparisons per second of processor time, so that other work on the machine does not count."""
    began = time.process_time()
    for reference in references:
        compare(reference)
    return len(references) / (time.process_time() - began)
