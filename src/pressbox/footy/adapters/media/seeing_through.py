"""Compares two films: lays one over the other in every way that their features suggest, and measures what moves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pressbox.footy.adapters.media.alignment import (
    FilmFeatures,
    Matrix,
    Pairing,
    find_pairings,
    group_by_way,
    lay_over,
    pair_up,
    pair_up_all,
    shares,
    turn_of,
)
from pressbox.footy.adapters.media.films import read_film
from pressbox.footy.domain.film_agreement import FILM_RATE, Times, drop_foreign_places, measure
from pressbox.footy.domain.film_rule import FILMS, Agreement, FilmRule, Sighting, Way, best_agreement
from pressbox.footy.domain.fingerprints import split_film

_MOST_WAYS = 4
_MOST_TIMES = 2
_PLACE_MOMENTS = 5
# Ways that put the corners within so many points of each other are one.
_APART = 3.0
# Pairings of one way at times that differ by this much: the camera stands still, and any two times fit.
_STILL_SPREAD = FILM_RATE
_COARSE_SIDE, _FINE_SIDE = 24, 48
# How far beside a pairing the very same moment may lie: half the distance of two keys.
_NEARBY = range(-3, 4)
_COARSE_SECONDS = 1.5
# What is compared around a pairing.
_AROUND = 5 * FILM_RATE


def compare_films(query: bytes, references: Mapping[int, bytes], rule: FilmRule = FILMS) -> dict[int, Sighting]:
    """Compare films in their stored form: those of the references that show a scene of the query."""
    ours = load_film(query)
    if ours is None:
        return {}
    films = ((number, load_film(stored)) for number, stored in references.items())
    found = {number: see_through(ours, film, rule) for number, film in films if film is not None}
    return {number: sighting for number, sighting in found.items() if sighting is not None}


def load_film(stored: bytes) -> FilmFeatures | None:
    """Read the film that is stored behind a fingerprint, if there is one."""
    _, film = split_film(stored)
    pictures = None if film is None else read_film(film)
    return None if pictures is None else FilmFeatures(pictures)


def see_through(query: FilmFeatures, reference: FilmFeatures, rule: FilmRule = FILMS) -> Sighting | None:
    """Find how the query shows the scene of the reference, or None. In the mirror too, which is tried last."""
    for mirrored in (False, True):
        seen = query.mirrored if mirrored else query
        pairings = find_pairings(seen, reference)
        for group in group_by_way(pairings, seen.pictures.shape, _MOST_WAYS, _APART):
            for way, found in _compare(seen, reference, group, rule.lengths):
                if (agreement := best_agreement(found, rule)) is not None:
                    return Sighting(way=_describe(seen, reference, way, mirrored), agreement=agreement)
    return None


def _compare(
    query: FilmFeatures, reference: FilmFeatures, group: Sequence[Pairing], lengths: Sequence[float]
) -> Iterator[tuple[Matrix, list[Agreement]]]:
    offsets = [each.reference - each.query for each in group]
    if max(offsets) - min(offsets) >= _STILL_SPREAD:
        yield from _compare_still(query, reference, group, lengths)
        return
    # The camera moves, so the way holds for one moment only: look for the very same moment first.
    first = group[0]
    moments = [pair_up(query, first.query, reference, key) for key in _near(first.reference, reference)]
    tried = [(each, _agree_around(query, reference, each, _COARSE_SIDE, [_COARSE_SECONDS])) for each in moments if each]
    best = max(tried, key=lambda one: max((each.moving for each in one[1]), default=-1.0), default=None)
    if best is not None:
        yield _compare_exactly(query, reference, best[0], lengths)


def _compare_still(
    query: FilmFeatures, reference: FilmFeatures, group: Sequence[Pairing], lengths: Sequence[float]
) -> Iterator[tuple[Matrix, list[Agreement]]]:
    """Compare at all times, because a camera that stands still shows the same place at any of them."""
    overlay = lay_over(query.pictures, reference.pictures, group[0].way, _FINE_SIDE)
    if overlay is None:
        return
    every = Times(range(-len(query.pictures), len(reference.pictures) + 1))
    found = sorted(measure(overlay, [every], [_COARSE_SECONDS]), key=lambda each: -each.moving)
    for likely in found[:_MOST_TIMES]:
        offset = round(likely.offset * FILM_RATE)
        middle = round((likely.begin + likely.seconds / 2) * FILM_RATE)
        yield _compare_exactly(query, reference, replace(group[0], query=middle, reference=middle + offset), lengths)


def _compare_exactly(
    query: FilmFeatures, reference: FilmFeatures, pairing: Pairing, lengths: Sequence[float]
) -> tuple[Matrix, list[Agreement]]:
    """Find the way that holds for the seconds around a moment, and measure them with it."""
    exact = pair_up_all(query, reference, _moments(query, reference, pairing))
    if exact is None or len(group_by_way([pairing, exact], query.pictures.shape, 2, 2 * _APART)) > 1:
        exact = pairing
    return exact.way, _agree_around(query, reference, exact, _FINE_SIDE, lengths)


def _moments(query: FilmFeatures, reference: FilmFeatures, pairing: Pairing) -> list[tuple[int, int]]:
    """Pairs of pictures as far apart in time as this one, the nearest first."""
    steps = range(-_AROUND // 2, _AROUND // 2 + 1, FILM_RATE // 2)
    moments = [(pairing.query + step, pairing.reference + step) for step in sorted(steps, key=abs)]
    return [
        (number, key)
        for number, key in moments
        if 0 <= number < len(query.pictures) and 0 <= key < len(reference.pictures)
    ]


def _near(key: int, reference: FilmFeatures) -> Iterator[int]:
    return (key + beside for beside in _NEARBY if 0 <= key + beside < len(reference.pictures))


def _agree_around(
    query: FilmFeatures, reference: FilmFeatures, pairing: Pairing, side: int, lengths: Sequence[float]
) -> list[Agreement]:
    """Measure the seconds around two pictures that show the same moment."""
    begin, other = max(0, pairing.query - _AROUND), max(0, pairing.reference - _AROUND)
    ours = query.pictures[begin : pairing.query + _AROUND]
    theirs = reference.pictures[other : pairing.reference + _AROUND]
    overlay = lay_over(ours, theirs, pairing.way, side)
    if overlay is None:
        return []
    moments = _moments(query, reference, pairing)[:_PLACE_MOMENTS]
    overlay = drop_foreign_places(overlay, [(number - begin, key - other) for number, key in moments])
    same = (pairing.reference - other) - (pairing.query - begin)
    found = measure(overlay, [Times(range(same - 1, same + 2))], lengths)
    moved = (other - begin) / FILM_RATE
    at = begin / FILM_RATE
    return [each.model_copy(update={"offset": each.offset + moved, "begin": each.begin + at}) for each in found]


def _describe(query: FilmFeatures, reference: FilmFeatures, way: Matrix, mirrored: bool) -> Way:
    query_share, reference_share = shares(query.pictures.shape, reference.pictures.shape, way)
    return Way(mirrored=mirrored, turned=turn_of(way), query_share=query_share, reference_share=reference_share)
