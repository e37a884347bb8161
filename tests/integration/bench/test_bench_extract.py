"""`pressbox bench extract`, small. No test looks at a time."""

from pathlib import Path

import pytest

from pressbox.bench.extract import f1, load_samples, run_extract
from pressbox.bench.summaries import Described, describe_page, rouge_1, score_summaries
from pressbox.core.errors import ConfigurationError
from tests.shared_data import shared


@pytest.mark.parametrize("real", [False, True], ids=["demo", "real"])
def test_every_page_is_measured_and_compared(real: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the pages that everybody has, and on some real ones where they are at hand."""
    monkeypatch.chdir(tmp_path)
    folder = shared("articles")
    if real and folder is None:
        pytest.skip("needs the real pages of shared/data/articles")
    if real and folder:
        for name in ("heise", "daringfireball-1", "tumblr", "mercurial"):
            (tmp_path / name).symlink_to(folder / name)
    said: list[str] = []
    report = run_extract(said.append, tmp_path if real else None, rounds=1)
    figures = {figure.name: figure for figure in report.figures}
    words = figures["F1 of words"]
    assert words.met
    assert words.peer is not None
    assert words.value > words.peer if real else words.value >= words.peer
    assert all(figure.value > 0 for figure in report.figures)
    assert said


def test_a_folder_without_pages_says_what_it_wants(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--data"):
        load_samples(tmp_path)


def test_f1_counts_words_and_characters_without_spaces() -> None:
    assert f1("one two", "one two") == 1
    assert f1("one two three four", "one two") == pytest.approx(2 / 3)
    assert f1("新しい橋", "新しい橋") == 1
    assert f1("古い橋", "新しい橋") == pytest.approx(4 / 7)
    assert f1("", "one") == 0


def test_summaries_are_compared_with_what_publishers_say() -> None:
    description = "The council closed the old bridge after a storm had broken two of its pillars last week."
    text = " ".join(
        [description, *(f"Neighbour number {number} told us about the long way round." for number in range(20))]
    )
    page = f"<html><head><meta name='description' content='{description}'></head><body><p>{text}</p></body></html>"
    described = describe_page(page, text)
    assert described == Described(text, description)
    assert describe_page(page, "Too short.") is None
    scores = score_summaries([Described(text, description)])
    assert scores.texts == 1
    assert 0 < scores.ours < 1
    assert rouge_1(description, description) == 1
    assert rouge_1("", description) == 0
