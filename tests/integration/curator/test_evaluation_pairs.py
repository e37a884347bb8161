"""The estimate without a model, on the vectors that come with Pressbox: the same in other words, and other things."""

import pytest

from pressbox.curator.evaluate.evaluators import OfflineEvaluator
from pressbox.curator.search.embedders import BundledEmbedder
from tests.fakes.evaluating import judged

# What an article says, the same in other words, and what it does not say.
PAIRS = [
    (
        "The bridge was opened to traffic in October 1931.",
        "Cars have been able to cross the bridge since autumn 1931.",
        "The bridge is painted every six years by a crew of forty.",
    ),
    (
        "The company laid off 300 workers in Berlin.",
        "Three hundred employees in Berlin lost their jobs.",
        "The company opened a new office in Berlin last year.",
    ),
    (
        "Ferry services to the islands are suspended because of the storm.",
        "Because of bad weather no ferries sail to the islands.",
        "The ferry to the islands got a new captain.",
    ),
    (
        "The council approved the new cycle path on Monday.",
        "On Monday the council voted for building the bike lane.",
        "The council meets every Monday at seven.",
    ),
    ("Der Zug fährt ab Dezember nicht mehr.", "The train stops running in December.", "The station was built in 1890."),
    (
        "The museum reopens next week after two years of renovation.",
        "After being renovated for two years, the museum opens again next week.",
        "The museum shows paintings of the nineteenth century.",
    ),
    (
        "Researchers found microplastics in snow on the mountain.",
        "Tiny pieces of plastic were discovered in mountain snow by scientists.",
        "Researchers climbed the mountain in winter.",
    ),
    (
        "Prices for apples rose by ten percent.",
        "Apples became ten per cent more expensive.",
        "Apples grow well in cold valleys.",
    ),
]


@pytest.fixture(scope="module")
def evaluator() -> OfflineEvaluator:
    return OfflineEvaluator(BundledEmbedder())


@pytest.mark.parametrize(("said", "same", "other"), PAIRS, ids=[pair[0][:20] for pair in PAIRS])
async def test_what_is_said_in_other_words_is_supported_and_what_is_not_said_is_not(
    evaluator: OfflineEvaluator, said: str, same: str, other: str
) -> None:
    # A question that both answer, whatever they say.
    asked = judged(question="What happened?", text=f"{same} {other}", contexts=(said,), language="en")
    (support, _) = await evaluator.judge(asked)
    assert support.score == 0.5


async def test_a_text_is_supported_by_its_own_article_and_not_by_another(evaluator: OfflineEvaluator) -> None:
    articles = [said for said, _, _ in PAIRS[:4]]
    own = await evaluator.judge(judged(text=" ".join(articles), contexts=tuple(articles)))
    foreign = await evaluator.judge(judged(text=" ".join(articles), contexts=tuple(said for said, _, _ in PAIRS[4:])))
    assert (own[0].score, foreign[0].score) == (1.0, 0.0)
