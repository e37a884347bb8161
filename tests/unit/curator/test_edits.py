"""Counters, corrected figures and edits of what a feed says."""

from datetime import UTC, datetime, timedelta

import pytest

from pressbox.curator.ingest.edits import Change, Edit, Version, compare_all, compare_texts, is_due_for_figures


@pytest.mark.parametrize(
    ("before", "after", "edit"),
    [
        ("Points: 9, comments: 1", "Points: 10,  comments: 25", Edit.NONE),
        ("Points: 9\n# Comments: 1", "Points: 10\n# Comments: 25", Edit.NONE),
        ("9 Kommentare", "1.204 Kommentare", Edit.NONE),
        ("A storm\n1 comment", "A storm\n2 comments", Edit.NONE),
        ("A storm", "A storm\n1 comment", Edit.NONE),
        ("A storm\n3 likes · 2 boosts\n4 comments", "A storm\n5 likes · 2 boosts\n4 comments", Edit.NONE),
        ("A fine day", "A grey day", Edit.WORDS),
        ("The storm left 3 dead.", "The storm left 5 dead.", Edit.FIGURES),
        ("It costs 1,200 euros. Comments: 3", "It costs 2,200 euros. Comments: 4", Edit.FIGURES),
        ("On 5 May", "On 6 May", Edit.FIGURES),
    ],
)
def test_a_counter_is_no_edit_but_a_corrected_figure_is(before: str, after: str, edit: Edit) -> None:
    assert compare_texts(before, after) is edit


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("They won by 12 points.", "They won by 21 points."),
        ("He sold 500,000 shares.", "He sold 5,000,000 shares."),
        ("Der Antrag erhielt 48 Stimmen.", "Der Antrag erhielt 52 Stimmen."),
        ("She got 3,000 views of her work. Votes: 48", "She got 3,000 views of her work. Votes: 52"),
        # A result in a line of its own.
        ("Home side\n12 points", "Home side\n21 points"),
        ("52 votes", "48 votes"),
        # Counters only grow.
        ("A storm\n52 comments", "A storm\n48 comments"),
        ("A storm\n3 likes\n4 comments", "A storm\n9 likes"),
        # Too long for a counter, and with a fraction.
        ("1234567890123 comments", "2234567890123 comments"),
        ("3.5 comments", "3.7 comments"),
    ],
)
def test_in_doubt_a_figure_was_corrected(before: str, after: str) -> None:
    assert compare_texts(before, after) is not Edit.NONE


def test_the_counters_of_a_digest_are_told_apart_by_their_order() -> None:
    before, after = "One\n5 comments\nTwo\n2 comments", "One\n5 comments\nTwo\n4 comments"
    assert compare_texts(before, after) is Edit.NONE
    assert compare_texts(after, before) is Edit.FIGURES


def test_what_is_longer_than_what_is_compared_is_an_edit_when_it_differs() -> None:
    rest = "word " * 100_000
    assert compare_texts(rest + "3 dead", rest + "5 dead") is Edit.WORDS
    assert compare_texts(f"3 dead {rest}", f"5 dead {rest}") is Edit.FIGURES


def test_titles_count_and_markup_does_not() -> None:
    first = Version("A storm", "<p>3 dead</p>")
    changes = (
        Change(first, Version("A storm", "<div>3 dead</div>")),
        Change(first, Version("A calm", "<p>3 dead</p>")),
        Change(first, Version("A storm", "<p>5 dead</p>")),
    )
    assert compare_all(changes) == (Edit.NONE, Edit.WORDS, Edit.FIGURES)


def test_figures_that_change_all_the_time_are_followed_ever_more_seldom() -> None:
    first = datetime(2026, 5, 1, tzinfo=UTC)
    edited, done = first, 0
    for minutes in range(0, 7 * 24 * 60, 5):
        now = first + timedelta(minutes=minutes)
        if is_due_for_figures(first, edited, now):
            edited, done = now, done + 1
    assert 8 <= done <= 20
