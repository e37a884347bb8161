"""The extract above an article tells what its first screen does not."""

import pytest

from pressbox.curator.reading.domain import drop_opening

FIRST, LAST = "The bridge was opened on Monday.", "It will cost nothing until May."


@pytest.mark.parametrize(
    ("summary", "text", "shown"),
    [
        (f"{FIRST} {LAST}", f"{FIRST} {'Many people came to see it. ' * 60}{LAST}", LAST),
        (f"{FIRST} {LAST}", f"{FIRST}\n{LAST}", ""),
        (LAST, "Something else.", LAST),
        ("橋が開いた。無料だ。", "橋が開いた。" + "多くの人が来た。" * 200, "無料だ。"),
        ("", "Text.", ""),
    ],
)
def test_sentences_of_the_opening_are_not_shown_twice(summary: str, text: str, shown: str) -> None:
    assert drop_opening(summary, text) == shown
