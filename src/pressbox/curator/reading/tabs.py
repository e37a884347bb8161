"""The tabs of an article: which it has, and what fills the one that is open."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from pressbox.curator.cards.tab import load_context
from pressbox.curator.library.domain.views import ArticleView
from pressbox.curator.reading.panes import Asked, Panes, Tab
from pressbox.curator.translate import tab as translation_tab

# As much as a word of an address may hold.
LONGEST_WORD = 40


@dataclass(frozen=True)
class TabPart:
    """`load` gives what the template of the tab finds in `page.filling`; its `topics`, if it has any, are followed too.

    `words` of the address belong to the tab: the part that is drawn again carries them on.
    """

    load: Callable[[Asked, ArticleView], Awaitable[object]]
    words: tuple[str, ...] = ()


TABS: Mapping[Tab, TabPart] = {
    Tab.TRANSLATION: TabPart(translation_tab.load, words=("to", "show")),
    Tab.ENRICHMENTS: TabPart(load_context, words=("links",)),
}


def wanted(asked: Asked) -> Tab:
    """What the address asks for; a tab that nobody knows is the article."""
    name = asked.request.query_params.get("tab", "")
    return Tab(name) if name in TABS else Tab.ARTICLE


async def with_tab(asked: Asked, page: Panes, article: ArticleView) -> Panes:
    """The page with its article, and with the tab that the address asks for."""
    shown = replace(page, article=article)
    if not article.body_html:
        # There is nothing that could be translated or looked into.
        return shown
    tab = wanted(asked)
    shown = replace(shown, tabs=(Tab.ARTICLE, *TABS) if TABS else (), tab=tab)
    if tab is Tab.ARTICLE:
        return shown
    part, given = TABS[tab], asked.request.query_params
    words = {name: given[name][:LONGEST_WORD] for name in part.words if given.get(name)}
    return replace(shown, filling=await part.load(asked, article), tab_words=words)
