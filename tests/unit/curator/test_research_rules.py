"""Bounds, choices, quotes and citations of research, without any clock, database or model."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.curator.research.domain import (
    ALREADY_READ,
    FULL,
    SAME_STORY,
    EndedBy,
    Limits,
    Link,
    Material,
    Note,
    Outcome,
    ResearchState,
    Run,
    Source,
    Span,
    Step,
    StepKind,
    StepState,
    bound_reached,
    check_position,
    choice_position,
    choose_articles,
    choose_links,
    collect_sources,
    material_from,
    plan_position,
    questions_of,
    read_position,
    search_position,
    usable_questions,
    write_position,
)
from pressbox.curator.research.extracts import (
    check_citations,
    excerpt,
    find_quote,
    keywords,
    names_in,
    quotes_in,
    shared_names,
    write_from_notes,
)
from pressbox.curator.research.report import render_report
from pressbox.curator.search.domain.passages import Passage

NOW = datetime(2026, 5, 4, tzinfo=UTC)


def passage(entry_id: int, start: int = 0, url: str = "") -> Passage:
    address = url or f"https://example.org/{entry_id}"
    end, text = start + 10, "0123456789"
    return Passage(entry_id, 1, f"Article {entry_id}", "The Example", address, NOW, start, end, text, 0.0, ())


def source(number: int) -> Source:
    return Source(number, material_from(passage(number)))


def read(number: int, *notes: Note, round: int = 1) -> Step:
    outcome = Outcome(material=material_from(passage(number)), notes=notes)
    return Step(read_position(round, number), round, StepKind.READ, "", StepState.DONE, outcome)


def run_with(*steps: Step) -> Run:
    return Run(1, 1, "Why?", ResearchState.RUNNING, Limits(), NOW, steps=steps)


@pytest.mark.parametrize(
    ("tokens", "minutes", "ended"),
    [(0, 0, None), (44_999, 19, None), (45_000, 0, None), (52_000, 0, EndedBy.TOKENS), (0, 20, EndedBy.TIME)],
)
def test_a_bound_ends_the_rounds_and_leaves_room_for_the_report(
    tokens: int, minutes: int, ended: EndedBy | None
) -> None:
    assert bound_reached(Limits(), tokens, timedelta(minutes=minutes)) is ended


def test_with_few_tokens_a_quarter_is_kept_for_the_report() -> None:
    assert bound_reached(Limits(tokens=4_000), 2_999, timedelta(0)) is None
    assert bound_reached(Limits(tokens=4_000), 3_000, timedelta(0)) is EndedBy.TOKENS


def test_steps_are_in_the_order_in_which_they_are_done() -> None:
    places = [plan_position()]
    for round in (1, 2, 10):
        places += [search_position(round, 0), search_position(round, 4), choice_position(round)]
        places += [read_position(round, 0), read_position(round, 5), check_position(round)]
    places.append(write_position())
    assert places == sorted(set(places))


def test_each_question_has_its_best_article_read_before_any_has_its_second() -> None:
    found = [[passage(1), passage(2), passage(3)], [passage(4), passage(1, 50)]]
    choice = choose_articles(found, (), limit=3)
    assert [(material.entry_id, len(spans)) for material, spans in choice.reads] == [(1, 2), (4, 1), (2, 1)]
    assert [(left.title, left.reason) for left in choice.left_out] == [("Article 3", FULL)]


def test_what_was_read_and_what_is_the_same_story_is_left_out_and_says_why() -> None:
    known = [material_from(passage(1))]
    twin = passage(3, url="https://example.org/2?utm_source=digest")
    choice = choose_articles([[passage(1), passage(2), twin]], known)
    assert [material.entry_id for material, _ in choice.reads] == [2]
    assert [left.reason for left in choice.left_out] == [ALREADY_READ, SAME_STORY]


def test_what_an_earlier_round_had_no_room_for_is_read_when_there_is_room() -> None:
    known = [material_from(passage(1))]
    choice = choose_articles([[passage(5)]], known, [[passage(1), passage(2), passage(3)]], limit=2)
    assert [material.entry_id for material, _ in choice.reads] == [5, 2]
    assert choice.left_out == (), "what was left out before is not told again"


def test_links_that_speak_of_the_question_are_chosen_and_others_are_not() -> None:
    known = [material_from(passage(1))]
    links = [
        Link(1, "https://example.org/privacy", "Privacy"),
        Link(1, "https://example.org/ferry", "The ferry and its harbour"),
        Link(1, "https://example.org/harbour", ""),
        Link(9, "https://example.org/ferry-elsewhere", "ferry"),
        Link(1, known[0].url, "ferry"),
    ]
    found = choose_links(links, known, {"ferry": 1.0, "harbour": 1.0})
    assert [one.url for one in found] == ["https://example.org/ferry", "https://example.org/harbour"]
    assert all(one.link and one.entry_id == 1 for one in found)


def test_a_quote_is_found_where_it_stands_though_blanks_differ() -> None:
    text = "The ferry left.\nThe ferry  left\nat six in the morning."
    assert find_quote("The ferry left at six", text) == Span(16, 38)
    assert find_quote("The ferry left at seven", text) is None
    assert find_quote("theferry", text) is None
    assert find_quote("   ", text) is None


def test_a_long_text_is_read_at_its_beginning_and_where_the_search_found_something() -> None:
    text = "a" * 5_000 + "NEEDLE" + "b" * 5_000
    assert excerpt("short", [], 100) == "short"
    some = excerpt(text, [Span(5_000, 5_006)], 1_000)
    assert "NEEDLE" in some
    assert some.startswith("a")
    assert len(some) <= 1_000


def test_sources_are_numbered_in_the_order_of_reading_and_only_with_notes() -> None:
    run = run_with(read(1), read(2, Note("It is so.", "so")), read(3, Note("It is not.", "not"), round=2))
    assert [(one.number, one.material.entry_id) for one in collect_sources(run)] == [(1, 2), (2, 3)]


def test_the_first_round_asks_what_the_plan_asks_and_the_next_what_the_check_misses() -> None:
    plan = Step(plan_position(), 0, StepKind.PLAN, "", StepState.DONE, Outcome(questions=("Who?",)))
    check = Step(check_position(1), 1, StepKind.CHECK, "", StepState.DONE, Outcome(questions=("When?",)))
    assert questions_of(run_with(plan, check), 1) == ("Who?",)
    assert questions_of(run_with(plan, check), 2) == ("When?",)
    assert questions_of(run_with(plan), 2) == ()


def test_questions_are_asked_once_and_are_one_line() -> None:
    found = ["Who  built\nit?", "who built it", "", "\x00", "When?", "W" * 900]
    assert usable_questions(found, ("When?",)) == ("Who built it?", "W" * 500)


def test_citations_of_sources_that_are_not_there_are_taken_out() -> None:
    report = check_citations("It is so [1]. It is not [7]. Both [1, 2][9] in [2024].", [source(1), source(2)])
    assert report.text == "It is so [1]. It is not. Both [1][2] in [2024]."
    assert (report.cited, report.dropped) == (frozenset({1, 2}), 2)
    assert check_citations("Nobody is cited [3].", [source(1)]).cited == frozenset()


def test_without_a_writer_the_quotes_are_the_report() -> None:
    noted = [(replace(source(1), material=replace(source(1).material, title="A\ntitle")), (Note("", "One.\nTwo."),))]
    assert write_from_notes(noted) == "### A title\n\n- “One. Two.” [1]"
    assert check_citations(write_from_notes(noted), [source(1)]).cited == {1}


def test_names_of_a_question_are_searched_for_one_by_one() -> None:
    assert names_in("How did the Harbour Bridge change Sydney since 1932?") == ["Harbour Bridge", "Sydney"]
    assert names_in("What is said of “green steel” in Duisburg?") == ["green steel", "Duisburg"]
    assert names_in("why is it so?") == []
    assert keywords("How did the ferry and the ferry pier change?") == "ferry pier change"


def test_sentences_that_share_words_with_the_question_are_quoted_in_reading_order() -> None:
    text = "Nothing of it here. The ferry left the pier at six. Cakes are good. The ferry sank in the year 1940."
    found = quotes_in(text, ("When did the ferry leave the pier?",), ())
    assert [text[span.start : span.end] for span in found] == [
        "The ferry left the pier at six.",
        "The ferry sank in the year 1940.",
    ]
    assert quotes_in(text, ("volcano",), ()) == []


def test_names_that_several_sources_share_lead_on() -> None:
    texts = ["They met in Duisburg with Thyssen.", "In Duisburg nobody came.", "Thyssen is in Duisburg."]
    assert shared_names(texts, ("What of Thyssen?",), 2) == ["Duisburg"]


def test_material_of_an_article_is_its_entry_and_of_a_page_its_address() -> None:
    article = material_from(passage(4))
    page = Material("A page", "https://example.org/page", 4, 1, link=True)
    assert (article.key, page.key) == ("4", "https://example.org/page")


def test_a_report_is_drawn_as_headings_lists_paragraphs_and_citations_and_everything_else_is_text() -> None:
    said = "## So it is\nIn **short** [1],\nyes [7].\n\n- one [2]\n- two `x`\n\n<img onerror=x> [a](javascript:b)"
    assert render_report(said, {1: "#source-1", 2: "#source-2"}) == (
        "<h3>So it is</h3>\n"
        '<p>In <strong>short</strong><a class="cite" href="#source-1">1</a>, yes[7].</p>\n'
        '<ul><li>one<a class="cite" href="#source-2">2</a></li><li>two <code>x</code></li></ul>\n'
        "<p>&lt;img onerror=x&gt; [a](javascript:b)</p>"
    )
