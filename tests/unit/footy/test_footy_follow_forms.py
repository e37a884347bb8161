"""The id of a league or team, as the forms of the follow page send it."""

import pytest

from pressbox.core.errors import InvalidInputError
from pressbox.footy.web.follow import parse_id


@pytest.mark.parametrize(("text", "number"), [("39", 39), (" -7 ", -7)])
def test_an_id_is_read(text: str, number: int) -> None:
    assert parse_id(text) == number


@pytest.mark.parametrize("text", ["", "-", "0", "--1", "x", "²", "9" * 19, "9" * 5_000, "0" * 5_000 + "39"])
def test_what_is_no_id_is_an_error_of_the_field(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_id(text)
    assert caught.value.field == "id"
