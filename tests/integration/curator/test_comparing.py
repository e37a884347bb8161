"""Texts of strangers are compared in a child, and what breaks it costs its own feed a summary, never the worker."""

import os
from unittest.mock import AsyncMock

import pytest

from pressbox.core.processes.pool import ChildDiedError, ChildNotStartedError
from pressbox.curator.ingest.comparer import PooledComparer
from pressbox.curator.ingest.edits import Change, Edit, Version
from pressbox.curator.library.parser_pool import ParserPool, TooSlowError

FIGURES = Change(Version("A storm", "<p>3 dead</p>"), Version("A storm", "<p>5 dead</p>"))


async def test_texts_are_compared_in_a_child(parsers: ParserPool) -> None:
    same = Change(FIGURES.before, Version("A storm", "<div>3 dead</div>"))
    # Once this took a minute for each further fetch, on the event loop of all applications.
    digits = Change(Version("π", "3" * 12_000 + "a"), Version("π", "3" * 12_000 + "b"))
    assert await PooledComparer(parsers).compare((FIGURES, same, digits)) == (Edit.FIGURES, Edit.NONE, Edit.WORDS)
    assert os.getpid() not in parsers.process_ids
    assert parsers.process_ids


@pytest.mark.parametrize("error", [TooSlowError("It takes too much time."), ChildDiedError("It died.", -11)])
async def test_a_text_that_breaks_the_comparison_counts_as_edited(
    parsers: ParserPool, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(parsers, "run_by", AsyncMock(side_effect=error))
    assert await PooledComparer(parsers).compare((FIGURES, FIGURES)) == [Edit.WORDS, Edit.WORDS]


async def test_a_parser_that_does_not_start_is_our_own_fault(
    parsers: ParserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsers, "run_by", AsyncMock(side_effect=ChildNotStartedError("The machine is busy.")))
    with pytest.raises(ChildNotStartedError):
        await PooledComparer(parsers).compare((FIGURES,))
