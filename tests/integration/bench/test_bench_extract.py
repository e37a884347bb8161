"""`pressbox bench extract`, small. No test looks at a time."""

from pathlib import Path

import pytest

from pressbox.bench.extract import f1, load_samples, run_extract
from pressbox.core.errors import ConfigurationError

ARTICLES = Path(__file__).parents[2] / "unit" / "curator" / "articles"


def test_every_page_is_measured_and_compared() -> None:
    said: list[str] = []
    report = run_extract(said.append, ARTICLES, rounds=1)
    figures = {figure.name: figure for figure in report.figures}
    words = figures["F1 of words"]
    assert words.met
    assert words.peer is not None
    assert words.value > words.peer
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
