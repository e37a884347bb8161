"""What the panes of the reader say of a person's sources."""

from typing import cast

from pressbox.core.web.identity import Identity
from pressbox.curator.library.domain import CrawlOutcome
from pressbox.curator.reading.access import Place
from pressbox.curator.reading.domain import ListKind, Selection, SourceLine, SourcesView
from pressbox.curator.reading.panes import Panes


def line(number: int, outcome: CrawlOutcome | None = CrawlOutcome.NEW) -> SourceLine:
    return SourceLine(number, f"Source {number}", None, 0, outcome, "It does not answer.", None)


def panes(*feeds: SourceLine) -> Panes:
    place = cast(Place, type("OfAll", (), {"selection": Selection(ListKind.ALL)})())
    sources = SourcesView((), feeds, (), 0, 0, 0, 0)
    return Panes(place, cast(Identity, None), 0, images=True, sources=sources)


def test_all_of_three_hundred_sources_are_named() -> None:
    page = panes(*map(line, range(300)))
    assert sum(len(group.feeds) for group in page.groups) == 300
    assert page.unnamed == 0


def test_nothing_is_called_read_when_no_source_can_be_read() -> None:
    broken = line(1, CrawlOutcome.UNREACHABLE)
    assert list(panes(broken).unreadable) == [broken]
    assert not panes(broken, line(2)).unreadable
    assert not panes().unreadable


def test_sources_that_were_never_read_are_being_read() -> None:
    assert panes(line(1, None), line(2, None)).is_first_reading
    assert not panes(line(1, None), line(2)).is_first_reading
