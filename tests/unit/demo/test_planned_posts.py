"""Which clips people post of a scripted day."""

from collections import Counter
from datetime import UTC, datetime

from pressbox.demo.football_day.posts import Fate, plan_posts
from pressbox.demo.match_day.days import build_day

DAY = build_day(datetime(2026, 6, 1, 18, tzinfo=UTC), matches=40, goals=120)


def test_a_plain_day_has_two_copies_of_every_goal_and_nothing_to_refuse() -> None:
    posts = plan_posts(DAY, plain=True)
    expected = DAY.expected()
    assert len(expected.goals) == 120
    assert {post.fate for post in posts} == {Fate.SCENE}
    assert Counter(Counter(post.goal for post in posts).values()) == {2: 120, 1: len(expected.disallowed)}


def test_a_full_day_also_has_what_must_be_refused() -> None:
    assert {post.fate for post in plan_posts(DAY)} == set(Fate)


def test_posts_have_ids_of_their_own_in_the_order_of_time() -> None:
    posts = plan_posts(DAY)
    assert len({post.id for post in posts}) == len(posts)
    assert posts == sorted(posts, key=lambda post: post.posted_at)
