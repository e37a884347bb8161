"""Who gets what over which channel, and what one try means."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.delivery.domain.attempts import (
    MAX_OWN_TRIES,
    MAX_TRIES,
    AttemptResult,
    DeliveryState,
    Verdict,
    judge_attempt,
)
from pressbox.delivery.domain.channels import Channel, Selector, choose_channels
from pressbox.soonish.domain.delivery import DeliveryCounts, MessageState, judge_message, summarise_counts

CHANNELS = st.lists(
    st.builds(
        Channel,
        st.integers(1, 10),
        st.frozensets(st.sampled_from(["family", "work", "all"])),
        st.sampled_from([b"a", b"b", b"c"]),
        st.booleans(),
        st.booleans(),
    ),
    unique_by=lambda channel: channel.channel_id,
    max_size=8,
)
SELECTORS = st.lists(
    st.builds(Selector, st.integers(1, 10)) | st.builds(Selector, st.none(), st.sampled_from(["family", "work"])),
    max_size=5,
)


def channel(number: int, *tags: str, target: bytes = b"", is_active: bool = True, broken: bool = False) -> Channel:
    return Channel(number, frozenset(tags), target or bytes([number]), is_active, broken)


def test_no_choice_chooses_no_channel() -> None:
    assert choose_channels([], [channel(1, "family")]) == ()


def test_ids_and_tags_choose_active_channels_in_order() -> None:
    own = [channel(3, "family"), channel(1), channel(2, "family", is_active=False), channel(4, "work")]
    found = choose_channels([Selector(channel_id=1), Selector(tag="family"), Selector(channel_id=99)], own)
    assert [item.channel_id for item in found] == [1, 3]


def test_two_channels_to_the_same_place_count_once() -> None:
    own = [channel(2, "family", target=b"same"), channel(1, "family", target=b"same"), channel(3, "family")]
    assert [item.channel_id for item in choose_channels([Selector(tag="family")], own)] == [1, 3]


def test_a_broken_channel_is_chosen_so_that_its_owner_can_see_why_nothing_came() -> None:
    assert choose_channels([Selector(channel_id=1)], [channel(1, broken=True)])[0].broken


@given(SELECTORS, CHANNELS)
def test_every_target_is_chosen_at_most_once_and_only_from_what_was_asked(
    selectors: list[Selector], own: list[Channel]
) -> None:
    found = choose_channels(selectors, own)
    asked = {
        item.target
        for item in own
        if item.is_active
        and any(item.channel_id == selector.channel_id or selector.tag in item.tags for selector in selectors)
    }
    assert sorted(item.target for item in found) == sorted(asked)


@pytest.mark.parametrize(
    ("result", "tries", "verdict"),
    [
        (AttemptResult.ACCEPTED, 1, Verdict(DeliveryState.SENT)),
        (AttemptResult.REFUSED, 1, Verdict(DeliveryState.FAILED)),
        (AttemptResult.UNCONFIRMED, 1, Verdict(DeliveryState.UNCERTAIN)),
        (AttemptResult.UNAVAILABLE, 1, Verdict(DeliveryState.PENDING, timedelta(seconds=1))),
        (AttemptResult.UNAVAILABLE, 2, Verdict(DeliveryState.PENDING, timedelta(seconds=2))),
        (AttemptResult.UNAVAILABLE, MAX_TRIES, Verdict(DeliveryState.FAILED)),
        (AttemptResult.UNAVAILABLE, MAX_TRIES + 1, Verdict(DeliveryState.FAILED)),
    ],
)
def test_what_a_try_came_to_decides_the_state(result: AttemptResult, tries: int, verdict: Verdict) -> None:
    assert judge_attempt(result, tries) == verdict


def test_a_target_that_says_when_to_come_back_is_obeyed() -> None:
    asked = timedelta(minutes=5)
    assert judge_attempt(AttemptResult.UNAVAILABLE, 1, asked) == Verdict(DeliveryState.PENDING, asked)


def test_a_state_without_deliveries_counts_as_zero() -> None:
    counts = DeliveryCounts.from_states({"sent": 2, "failed": 1})
    assert counts == DeliveryCounts(sent=2, pending=0, uncertain=0, failed=1, skipped=0)
    assert counts.total == 3


def test_of_two_looks_at_a_message_the_one_that_knows_more_is_newer() -> None:
    opening, sending, done = (DeliveryCounts.from_states(one) for one in ({"pending": 2}, {"pending": 4}, {"sent": 4}))
    assert opening.is_older_than(sending)
    assert sending.is_older_than(done)
    assert not done.is_older_than(done)


def test_a_summary_never_leaves_out_what_went_wrong() -> None:
    assert summarise_counts(DeliveryCounts(sent=12, pending=0, uncertain=0, failed=0, skipped=3)) == "12 sent"
    assert summarise_counts(DeliveryCounts(sent=0, pending=0, uncertain=1, failed=2, skipped=0)) == (
        "0 sent, 2 failed, 1 uncertain"
    )


@pytest.mark.parametrize(
    ("counts", "state"),
    [
        ({"sent": 2, "skipped": 1}, MessageState.SENT),
        ({"sent": 1, "failed": 1}, MessageState.INCOMPLETE),
        ({"uncertain": 1, "failed": 1}, MessageState.INCOMPLETE),
        ({"failed": 2, "skipped": 1}, MessageState.FAILED),
        ({}, MessageState.SENT),
    ],
)
def test_a_message_whose_deliveries_failed_is_not_simply_sent(counts: dict[str, int], state: MessageState) -> None:
    found = DeliveryCounts.from_states(counts)
    assert judge_message(found, is_finished=True, is_stopped=False) is state
    assert judge_message(found, is_finished=False, is_stopped=False) is MessageState.SENDING
    assert judge_message(found, is_finished=True, is_stopped=True) is MessageState.STOPPED


def test_a_target_that_says_when_to_come_back_is_tried_for_longer_than_one_that_fails() -> None:
    asked = judge_attempt(AttemptResult.UNAVAILABLE, 3, timedelta(seconds=35))
    assert (asked.state, asked.pause) == (DeliveryState.PENDING, timedelta(seconds=35))
    assert judge_attempt(AttemptResult.UNAVAILABLE, 3).state is DeliveryState.FAILED
    assert judge_attempt(AttemptResult.UNAVAILABLE, 20, timedelta(seconds=35)).state is DeliveryState.FAILED


def test_mail_that_is_put_off_is_tried_for_hours_with_growing_pauses() -> None:
    """Greylisting lets a mail through after minutes, sometimes after half an hour and more."""
    tries = range(1, MAX_OWN_TRIES + 1)
    *verdicts, last = [judge_attempt(AttemptResult.UNAVAILABLE, number, is_own_fault=True) for number in tries]
    pauses = [verdict.pause for verdict in verdicts if verdict.pause is not None]
    assert len(pauses) == len(verdicts)
    assert pauses == sorted(pauses)
    assert pauses[0] <= timedelta(seconds=10)
    assert pauses[-1] >= timedelta(minutes=30)
    assert sum(pauses, timedelta()) >= timedelta(hours=4)
    assert last.state is DeliveryState.FAILED
