"""`bench ask` on a few pages and a few entries: that it measures what it says, not how fast."""

from pathlib import Path

from pressbox.bench.ask import IN_TABLES, WAYS, _measure_quality, _measure_times
from pressbox.bench.ask_library import Document, Question
from pressbox.embedded.home import Home

PAGES = (
    Document("articles/river", "River", "The old bridge over the Elbe is closed. Repairs will take a year."),
    Document("articles/kitchen", "Kitchen", "This cake needs four eggs. Bake it for an hour in a hot oven."),
    Document("feed/0", "Vulkan", "Der Vulkan auf Island ist wieder ausgebrochen. Lava fließt ins Tal."),
)
ASKED = (
    Question("de", "Warum ist die Brücke gesperrt?", ("articles/river",)),
    Question("en", "How many eggs are in the cake?", ("articles/kitchen",)),
)


def quiet(step: str) -> None:
    """Nobody watches."""


async def test_the_right_page_is_found_by_all_ways_together(database_url: str, tmp_path: Path) -> None:
    qualities, peer = await _measure_quality(Home(tmp_path), database_url, PAGES, ASKED, quiet)
    assert set(qualities) == {*WAYS, IN_TABLES}
    assert qualities[IN_TABLES].recall == qualities["full text"].recall
    assert qualities["hybrid"].recall == 1
    assert qualities["hybrid"].ndcg > peer.ndcg


async def test_every_question_is_timed_to_its_entries_and_to_its_passages(database_url: str, tmp_path: Path) -> None:
    times = await _measure_times(Home(tmp_path), database_url, 40, ASKED, 2, quiet)
    assert {kind: len(seconds) for kind, seconds in times.items()} == {"entries": 2, "passages": 2}
    assert all(seconds > 0 for measured in times.values() for seconds in measured)
