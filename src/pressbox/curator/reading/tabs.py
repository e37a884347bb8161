"""The tabs of an article. Slices above reading add theirs: the manifest lists them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from pressbox.curator.reading.domain import ArticleView
from pressbox.curator.reading.panes import ARTICLE, ArticleTab, Panes, ReaderRequest

# The longest word of an address.
LONGEST_WORD = 40


@dataclass(frozen=True, kw_only=True)
class LoadedTab(ArticleTab):
    """A tab of another slice. `load` returns what its template finds in `page.tab_content`.

    The `topics` of that content, if it has any, are followed too. The `words` of an address belong to the tab: the
    part that is drawn again carries them on.
    """

    load: Callable[[ReaderRequest, ArticleView], Awaitable[object]]
    words: tuple[str, ...] = ()


_tabs: list[LoadedTab] = []


def set_tabs(tabs: Sequence[LoadedTab]) -> None:
    """Show these tabs beside the article, in this order."""
    _tabs[:] = tabs


async def add_tab(reader: ReaderRequest, page: Panes, article: ArticleView) -> Panes:
    """Return the page with its article, and with the tab that the address asks for."""
    shown = replace(page, article=article)
    if not article.body_html:
        # There is nothing to translate or to look into.
        return shown
    shown = replace(shown, tabs=(ARTICLE, *_tabs) if _tabs else ())
    given = reader.request.query_params
    # An unknown tab is the article.
    tab = next((one for one in _tabs if one.name == given.get("tab", "")), None)
    if tab is None:
        return shown
    words = {name: given[name][:LONGEST_WORD] for name in tab.words if given.get(name)}
    return replace(shown, tab=tab, tab_content=await tab.load(reader, article), tab_words=words)
