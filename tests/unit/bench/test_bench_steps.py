"""Whoever watches a benchmark sees what it does and how long each step took; a pipe and JSON stay clean."""

import re

import pytest

from pressbox.entry.commands.bench import Steps


def test_a_terminal_is_told_each_step_and_its_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    steps("First start")
    steps("Second start")
    steps.finish()
    steps.finish()
    told = capsys.readouterr()
    assert re.fullmatch(r"First start …\n +[\d.]+ s\nSecond start …\n +[\d.]+ s\n", told.err)
    assert told.out == ""


def test_a_pipe_is_told_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    steps = Steps()
    steps("First start")
    steps.finish()
    assert capsys.readouterr() == ("", "")
