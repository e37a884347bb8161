"""An article that tells the model to do something changes nothing but what is made of that article itself.

The model of these tests obeys every article. Whatever it says must stay text of that entry: no other row changes, no
connection is opened but to the model, no name is looked up, and pages show it as text.
"""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from urllib.parse import quote

import pytest
from sqlalchemy import select

from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings
from pressbox.core.http.client import GuardedClient
from pressbox.curator.ask.contracts import AnswerInput
from pressbox.curator.ask.store import AnswerRow, SqlConversations
from pressbox.curator.cards.contracts import FetchReadmeInput, RerankGithubInput, SaveGithubInput, SearchGithubInput
from pressbox.curator.cards.store import EnrichmentRow
from pressbox.curator.context.contracts import EntryReference, ExtractContextInput, SaveContextInput
from pressbox.curator.context.store import EntryContextRow
from pressbox.curator.distil.contracts import (
    SaveDistilledInput,
    SummarizationEvaluationInput,
    SummarizationEvaluationItem,
)
from pressbox.curator.graph.contracts import GraphBatchInput, GraphMarkInput
from pressbox.curator.graph.store import GraphEvidenceRow, GraphNodeRow
from pressbox.curator.library.contracts import EntryIds
from pressbox.curator.library.domain import CuratorPolicy, DistilState
from pressbox.curator.library.rows import EntryRow
from pressbox.curator.research.contracts import ResearchStepInput
from pressbox.curator.research.domain import Limits
from pressbox.curator.research.ports import Draft
from pressbox.curator.research.store import ResearchRunRow, SqlResearch
from pressbox.curator.search.contracts import IndexBatchInput
from pressbox.curator.settings import EvaluatorKind
from pressbox.curator.translate.contracts import SaveTranslationsInput, TranslateArticlesInput
from pressbox.demo.simulators.github import GitHubService, SimulatedRepository
from tests.fakes.attacks import ATTACKS, EVIL, words_in
from tests.fakes.besieged import Besieged, besieged, browser, hidden, tapped, troubles
from tests.fakes.reader import NOW

_PART = re.compile(r"^BEGIN (?P<mark>[0-9a-f]{16})(?P<name>[^\n]*)\n.*?\nEND (?P=mark)(?P=name)$", re.M | re.S)
# Nobody waits for a turn at a host of our own.
AT_ONCE = CuratorPolicy(host_delay=timedelta(0))
_MARK = re.compile(r"BEGIN ([0-9a-f]{16})")


@pytest.fixture
async def room(resources: Resources) -> AsyncIterator[Besieged]:
    async with besieged(resources) as room:
        yield room


@pytest.fixture
async def odd(resources: Resources) -> AsyncIterator[Besieged]:
    """Every second attack, so that all of this takes seconds; each of them meets several features."""
    async with besieged(resources, ATTACKS[::2]) as room:
        yield room


@pytest.fixture
async def even(resources: Resources) -> AsyncIterator[Besieged]:
    async with besieged(resources, ATTACKS[1::2]) as room:
        yield room


@asynccontextmanager
async def watched(room: Besieged, monkeypatch: pytest.MonkeyPatch, *tables: str, also: int = 0) -> AsyncIterator[None]:
    """Afterwards only rows of these tables changed, and of those only what belongs to an attacking entry."""
    before = await room.rows()
    with tapped(monkeypatch) as line:
        yield
    after = await room.rows()
    assert room.canary.called == []
    assert line.ports <= {room.model.port, also}, "somebody was called whom an article named"
    assert line.names <= {"127.0.0.1"}, "a name was looked up that an article named"
    for table in after:
        moved = before[table] ^ after[table]
        assert not moved or table in tables, f"{table} changed: {sorted(moved)[:2]}"
        for line_of in moved:
            assert _belongs(room, table, json.loads(line_of)), f"{table}: {line_of}"
    kept = ("entries", "entry_bodies", "entry_states", "entry_labels", "subscriptions", "users")
    assert all(len(before[table]) == len(after[table]) for table in before if table.split(".")[1] in kept)


def _belongs(room: Besieged, table: str, row: dict[str, object]) -> bool:
    """To an entry that attacks, or to what the reader asked for themselves."""
    if table == "curator.entries":
        return row["id"] in room.attacks
    if "entry_id" in row and row["entry_id"] is not None:
        return row["entry_id"] in room.attacks
    return row.get("user_id", room.reader) == room.reader


def asked_safely(room: Besieged, *, at_least: int) -> None:
    """What articles say stands between marks that they cannot know, and never among our own words."""
    assert len(room.model.asked) >= at_least
    marks = []
    for asked in room.model.asked:
        ours, material = asked.texts[0], asked.texts[1]
        assert words_in(ours) == set()
        assert room.canary.url not in ours
        mark = _MARK.search(ours)
        assert mark is not None, ours
        marks.append(mark[1])
        assert words_in(_PART.sub("", material)) == set(), "an article ended its own marks"
        assert {found["mark"] for found in _PART.finditer(material)} == {mark[1]}
    assert len(set(marks)) == len(marks), "a mark was used twice"


def one_line_of_plain_text(said: str) -> None:
    assert hidden(said) == ""
    assert "\n" not in said
    assert said.isprintable()


async def shown(room: Besieged, paths: Sequence[str]) -> dict[str, str]:
    async with browser(room) as client:
        pages = {}
        for path in paths:
            answer = await client.get(path)
            assert answer.status_code == 200, path
            assert "script-src 'self'" in answer.headers["content-security-policy"]
            pages[path] = answer.text
    return pages


def assert_text_alone(pages: Mapping[str, str]) -> None:
    assert {path: troubles(page) for path, page in pages.items() if troubles(page)} == {}


async def test_the_list_is_long_enough_and_every_attack_can_be_followed() -> None:
    assert len(ATTACKS) >= 25
    assert len({attack.word for attack in ATTACKS}) == len({attack.name for attack in ATTACKS}) == len(ATTACKS)


async def test_an_article_that_gives_orders_changes_its_own_summary_and_nothing_else(
    room: Besieged, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watched(room, monkeypatch, "curator.entries"):
        for begin in range(0, len(room.entry_ids), 5):
            wanted = EntryIds(entry_ids=room.entry_ids[begin : begin + 5])
            batch = await room.do("distill_entry_content", wanted)
            await room.do("save_distilled_entries", SaveDistilledInput(answers=batch.answers, failed=batch.failed))
    asked_safely(room, at_least=len(ATTACKS) // 5)
    async with room.resources.database.unit_of_work() as work:
        entries = {one.id: one for one in await work.session.scalars(select(EntryRow))}
    for entry_id, attack in room.attacks.items():
        entry = entries[entry_id]
        assert entry.distil_state == DistilState.DISTILLED, attack.name
        # Its own summary is what an obedient model makes of it, as one line of text.
        assert entry.summary.startswith(attack.word), attack.name
        one_line_of_plain_text(entry.summary)
    assert {entries[one].summary for one in room.bystanders} == {f"True {number}." for number in range(3)}
    pages = await shown(room, ["/reader?list=all", *(f"/reader/entries/{one}/part" for one in room.attacks)])
    assert_text_alone(pages)
    for entry_id, attack in room.attacks.items():
        assert attack.word in pages[f"/reader/entries/{entry_id}/part"], attack.name


async def test_an_article_that_gives_orders_changes_the_answer_to_a_question_about_it_and_nothing_else(
    odd: Besieged, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = odd
    conversations = SqlConversations(room.resources.database)
    questions = {
        (
            await conversations.add_question(
                room.reader, "When does the ferry leave?", NOW, conversation_id=None, entry_id=one
            )
        ).id: one
        for one in room.attacks
    }
    async with watched(room, monkeypatch, "curator.answers", "curator.conversations"):
        for answer_id in questions:
            await room.do("retrieve_passages", AnswerInput(answer_id=answer_id))
            await room.do("write_answer", AnswerInput(answer_id=answer_id))
    asked_safely(room, at_least=len(room.attacks))
    async with room.resources.database.unit_of_work() as work:
        answers = {one.id: one for one in await work.session.scalars(select(AnswerRow))}
    for answer_id, entry_id in questions.items():
        attack, said = room.attacks[entry_id], answers[answer_id].text
        assert answers[answer_id].state == "done", attack.name
        assert attack.word in said, attack.name
        assert hidden(said) == "", attack.name
        assert set(re.findall(r"\[(\d{1,3})\]", said)) <= {"1"}, attack.name
    acting = [number for number, entry_id in questions.items() if entry_id in room.marked_up]
    pages = await shown(room, [f"/reader/ask/{answers[number].conversation_id}" for number in acting])
    assert_text_alone(pages)
    assert all(room.attacks[questions[number]].word in "".join(pages.values()) for number in acting)


async def test_articles_that_give_orders_change_the_report_that_cites_them_and_nothing_else(
    even: Besieged, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = even
    await room.do("index_entries_batch", IndexBatchInput(entry_ids=room.entry_ids))
    draft = Draft(room.reader, "When does the ferry leave the harbour?", Limits(rounds=2, links=True))
    run_id = await SqlResearch(room.resources.database).create(draft, NOW)
    async with watched(room, monkeypatch, "curator.research_runs", "curator.research_steps"):
        input = ResearchStepInput(run_id=run_id)
        await room.do("open_research", input)
        await room.do("plan_research", input)
        for number in (1, 2):
            step = input.model_copy(update={"round": number})
            for position in (await room.do("search_for_research", step)).to_read:
                await room.do("read_for_research", step.model_copy(update={"position": position}))
            await room.do("check_research", step)
        await room.do("write_research", input)
    asked_safely(room, at_least=6)
    async with room.resources.database.unit_of_work() as work:
        run = (await work.session.scalars(select(ResearchRunRow))).one()
    assert run.state == "done"
    assert set(re.findall(r"\[(\d+)\]", run.report)) <= {str(source["number"]) for source in run.sources}
    assert hidden(run.report) == ""
    assert {source["material"]["entry_id"] for source in run.sources} <= set(room.attacks)
    page = f"/reader/research/{run_id}"
    assert_text_alone(await shown(room, [page, f"{page}/report.html"]))


async def test_an_article_that_gives_orders_changes_its_own_translation_and_nothing_else(
    even: Besieged, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = even
    async with watched(room, monkeypatch, "curator.entry_translations"):
        wanted = TranslateArticlesInput(entry_ids=room.entry_ids, language="de")
        done = await room.do("llm_translate_articles", wanted)
        await room.do("save_translations", SaveTranslationsInput(entry_ids=done.translated, language="de"))
    assert set(done.translated) == set(room.attacks)
    asked_safely(room, at_least=len(room.attacks))
    paths = [f"/reader/entries/{one}/part?tab=translation&language=de" for one in room.marked_up]
    assert_text_alone(await shown(room, paths))


async def test_an_article_that_gives_orders_changes_its_own_context_and_graph_and_nothing_else(
    odd: Besieged, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = odd
    tables = ("curator.entry_contexts", "curator.entry_links", "curator.entries")
    graph = ("curator.graph_nodes", "curator.graph_edges", "curator.graph_evidence", "curator.graph_generations")
    async with watched(room, monkeypatch, *tables, *graph):
        for entry_id in room.attacks:
            found = await room.do("extract_entry_context", ExtractContextInput(entry_id=entry_id))
            await room.do("save_entry_context", SaveContextInput(entry_id=entry_id, key=found.key))
            await room.do("save_entry_links", EntryReference(entry_id=entry_id))
        added = await room.do("add_to_global_graph_bulk", GraphBatchInput(entry_ids=room.entry_ids))
        await room.do("mark_entries_graph_added", GraphMarkInput(added=added.added, failed=added.failed))
    asked_safely(room, at_least=len(room.attacks))
    assert {one.entry_id for one in added.added} == set(room.attacks)
    async with room.resources.database.unit_of_work() as work:
        evidence = list(await work.session.scalars(select(GraphEvidenceRow)))
        contexts = list(await work.session.scalars(select(EntryContextRow)))
        nodes = list(await work.session.scalars(select(GraphNodeRow)))
    assert {one.entry_id for one in evidence} <= set(room.attacks)
    for context in contexts:
        said = json.dumps([context.entities, context.relationships, context.key_points], ensure_ascii=False)
        assert hidden(said) == "", room.attacks[context.entry_id].name
        assert context.domain == "other", "what is not one of ours is none"
    tabs = [f"/reader/entries/{one}/part?tab=enrichments" for one in room.marked_up]
    drawn = [f"/reader/graph/{quote(node.key, safe='')}" for node in nodes[::6]]
    assert_text_alone(await shown(room, [*tabs, "/reader/graph", *drawn]))


async def test_a_repository_that_gives_orders_is_a_card_of_its_entry_and_nothing_else(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README of a stranger is a document with links of its own; nothing in it may act."""
    repositories = tuple(
        SimulatedRepository(
            f"evil/{attack.word}",
            attack.says[:300],
            99,
            topics=(attack.text[:50],),
            readme=f"<h1>{attack.word}</h1>{attack.says[:2000]}",
        )
        for attack in ATTACKS
    )
    async with (
        GitHubService(repositories=repositories) as github,
        GuardedClient(HttpSettings(allow=(f"127.0.0.1:{github.port}",))) as http,
        besieged(replace(resources, http=http), github_url=github.url) as room,
    ):
        async with watched(room, monkeypatch, "curator.enrichments", also=github.port):
            for entry_id, attack in list(room.attacks.items())[::3]:
                wanted = SearchGithubInput(entry_id=entry_id, name=attack.word, policy=AT_ONCE)
                found = await room.do("search_github_candidates", wanted)
                offered = RerankGithubInput(
                    entry_id=entry_id, name=attack.word, candidates=found.candidates, policy=AT_ONCE
                )
                choice = await room.do("rerank_github_results", offered)
                assert choice.chosen in found.candidates, "a model chooses among what was found"
                readme = await room.do(
                    "fetch_github_readme", FetchReadmeInput(repository=choice.chosen, policy=AT_ONCE)
                )
                card = SaveGithubInput(
                    entry_id=entry_id, name=attack.word, repository=choice.chosen, by=choice.by, readme_key=readme.key
                )
                await room.do("save_github_enrichment", card)
        asked_safely(room, at_least=len(ATTACKS) // 3)
        assert {path.split("/")[1] for path in github.asked} == {"search", "repos"}
        async with room.resources.database.unit_of_work() as work:
            cards = list(await work.session.scalars(select(EnrichmentRow)))
        pages = await shown(room, [f"/reader/cards/{card.id}" for card in cards])
        acting = {path: [one for one in troubles(page) if EVIL not in one] for path, page in pages.items()}
        assert {path: found for path, found in acting.items() if found} == {}


async def test_a_text_that_marks_itself_gets_a_score_between_0_and_1_and_changes_nothing_else(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with besieged(resources, evaluator=EvaluatorKind.RAGAS) as room:
        some = room.entry_ids[::8]
        batch = await room.do("distill_entry_content", EntryIds(entry_ids=some))
        await room.do("save_distilled_entries", SaveDistilledInput(answers=batch.answers, failed=batch.failed))
        room.model.forget()
        items = tuple(SummarizationEvaluationItem(entry_id=one, trace_id=f"trace {one}") for one in some)
        wanted = SummarizationEvaluationInput(trace_id="all", items=items, max_samples=len(items))
        async with watched(room, monkeypatch, "curator.evaluations"):
            result = await room.do("evaluate_summarization", wanted)
        assert result.evaluated == len(some)
        assert all(0 <= score.score <= 1 for score in result.scores)
        asked_safely(room, at_least=len(some))
