"""What a person is told of a notice by one way, by what they were told before."""

from dataclasses import replace

import pytest

from pressbox.delivery.domain.notices import WITHDRAWN, Form, Plan, Told, Untold, plan_send

GOAL = Told("1", "Goal for Liverpool by Salah, 23′", "Salah 1–0", "current")
WITH_CLIP = replace(GOAL, version="2")
OTHER_SCORER = replace(GOAL, version="3", gist="Jota 1–0", title="Goal for Liverpool by Jota, 23′")
TAKEN_BACK = replace(GOAL, version="4", state=WITHDRAWN)
BACK = replace(GOAL, version="5")
MAIL, CHAT, PUSH = "account:1", "channel:7", "push:3"
WAYS = [MAIL, CHAT, PUSH]


@pytest.mark.parametrize("way", WAYS)
def test_who_was_told_nothing_is_told_what_is_true_now(way: str) -> None:
    assert plan_send(OTHER_SCORER, way, None) == Plan(Form.NEWS, OTHER_SCORER)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_withdrawn_before_anybody_was_told_stays_untold(way: str) -> None:
    assert plan_send(TAKEN_BACK, way, None) is Untold.WITHDRAWN


def test_a_clip_replaces_a_push_and_is_no_reason_for_another_mail() -> None:
    assert plan_send(WITH_CLIP, PUSH, GOAL) == Plan(Form.NEWS, WITH_CLIP)
    assert plan_send(WITH_CLIP, MAIL, GOAL) is Untold.NOTHING_NEW
    assert plan_send(WITH_CLIP, CHAT, GOAL) is Untold.NOTHING_NEW


def test_another_scorer_is_one_correction() -> None:
    assert plan_send(OTHER_SCORER, MAIL, GOAL) == Plan(Form.CORRECTION, OTHER_SCORER)
    assert plan_send(OTHER_SCORER, MAIL, OTHER_SCORER) is Untold.NOTHING_NEW
    assert plan_send(OTHER_SCORER, PUSH, GOAL) == Plan(Form.NEWS, OTHER_SCORER)


@pytest.mark.parametrize("way", WAYS)
def test_who_was_told_hears_that_it_was_taken_back_once(way: str) -> None:
    assert plan_send(TAKEN_BACK, way, GOAL) == Plan(Form.WITHDRAWAL, TAKEN_BACK)
    assert plan_send(TAKEN_BACK, way, TAKEN_BACK) is Untold.NOTHING_NEW


def test_a_goal_that_counts_after_all_is_a_correction_of_its_withdrawal() -> None:
    assert plan_send(BACK, CHAT, TAKEN_BACK) == Plan(Form.CORRECTION, BACK)


@pytest.mark.parametrize("way", WAYS)
def test_a_try_that_nobody_knows_the_end_of_is_taken_back_too(way: str) -> None:
    assert plan_send(TAKEN_BACK, way, None, cut_off=GOAL) == Plan(Form.WITHDRAWAL, TAKEN_BACK)
    assert plan_send(GOAL, way, None, cut_off=GOAL) == Plan(Form.NEWS, GOAL), "it is sent again, and the ledger says so"


@pytest.mark.parametrize("way", WAYS)
def test_a_correction_that_nobody_knows_the_end_of_is_sent_again(way: str) -> None:
    assert plan_send(TAKEN_BACK, way, GOAL, cut_off=TAKEN_BACK) == Plan(Form.WITHDRAWAL, TAKEN_BACK)
