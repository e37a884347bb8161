"""Which kinds of notices and which reminders people choose."""

from datetime import timedelta

import pytest

from pressbox.core.errors import InvalidInputError
from pressbox.core.notices.kinds import NoticeKind, choose_kinds, choose_reminders

OFFERED = [NoticeKind("goal", "Goals", "footy."), NoticeKind("kick-off", "Kick-off", "footy.", by_default=False)]


def test_the_default_is_stored_as_no_choice() -> None:
    assert choose_kinds(OFFERED, ["goal"]) is None
    assert choose_reminders([timedelta(minutes=15)]) is None


def test_nothing_is_a_choice_too() -> None:
    assert choose_kinds(OFFERED, []) == []
    assert choose_reminders([]) == []


def test_a_choice_is_kept_in_the_order_of_the_offer_and_longest_first() -> None:
    assert choose_kinds(OFFERED, ["kick-off", "goal"]) == ["goal", "kick-off"]
    assert choose_reminders([timedelta(minutes=5), timedelta(hours=1), timedelta(hours=1)]) == [3600, 300]


def test_what_is_not_offered_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no notice of this kind"):
        choose_kinds(OFFERED, ["weather"])
    with pytest.raises(InvalidInputError, match="between 1 minute"):
        choose_reminders([timedelta(seconds=5)])
    with pytest.raises(InvalidInputError, match="At most 10"):
        choose_reminders([timedelta(minutes=number) for number in range(1, 12)])
