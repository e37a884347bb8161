"""What rules find out about a text without a model: candidates for entities, kinds, links, and nothing invented."""

import time

import pytest

from pressbox.curator.cards.readme import readme_of
from pressbox.curator.context.candidates import candidates
from pressbox.curator.context.domain import (
    MENTIONED_WITH,
    ContentType,
    ContextMethod,
    Domain,
    EntityKind,
    EntryContext,
    detect_content_type,
    detect_domain,
)
from pressbox.curator.context.finder import extract_context, extract_links, find_installed_programs
from tests.fakes.enriching import source_of

ENGLISH = """\
Rahel Lindqvist runs the observatory on Mount Aldern. The observatory was built by the University of Tarnow in 1961.
Last week Lindqvist told reporters that PostgreSQL 17.2 now holds all its pictures. They use the Quillwork framework.
Meanwhile the Tarnow Astronomical Society wants a second telescope. However, nobody pays, said Professor Ilse Marr.
"""
GERMAN = """\
Die Sternwarte gehört seit Jahren der Universität Tarnow. Ihre Leiterin Rahel Lindqvist lobt das neue Teleskop.
Die Software läuft in Tarnow auf einem Server mit PostgreSQL, und in Tarnow ist man mit der Leistung zufrieden.
Der Betrieb kostet im Jahr eine Million, sagte Rahel Lindqvist der Zeitung.
"""


def found(text: str, html: str = "", title: str = "A title") -> EntryContext:
    return extract_context(source_of(text, html, title=title))


def names(context: EntryContext) -> dict[str, EntityKind]:
    return {entity.name: entity.kind for entity in context.entities}


def test_names_of_an_english_text_are_candidates_and_words_at_the_beginning_of_sentences_are_not() -> None:
    context = found(ENGLISH)
    known = names(context)
    assert known["Rahel Lindqvist"] is EntityKind.PERSON
    assert known["University of Tarnow"] is EntityKind.ORGANISATION
    assert known["Tarnow Astronomical Society"] is EntityKind.ORGANISATION
    assert known["Mount Aldern"] is EntityKind.PLACE
    assert known["PostgreSQL"] is EntityKind.SOFTWARE
    assert known["Quillwork"] is EntityKind.SOFTWARE
    assert known["Ilse Marr"] is EntityKind.PERSON
    assert not known.keys() & {"Last", "They", "Meanwhile", "However", "The", "Lindqvist"}
    assert context.method is ContextMethod.OFFLINE


def test_nouns_of_a_german_text_are_no_names() -> None:
    known = names(found(GERMAN))
    assert {"Rahel Lindqvist", "PostgreSQL", "Tarnow"} <= {name.removeprefix("Universität ") for name in known}
    assert not known.keys() & {
        "Sternwarte",
        "Leiterin",
        "Teleskop",
        "Software",
        "Server",
        "Leistung",
        "Betrieb",
        "Jahren",
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("研究チームはOpenVaultを公開した。開発者はOpenVaultの利用を歓迎している。", "OpenVault"),
        ("他昨天读完了《静静的山谷》。这本书很长，但是大家都喜欢。", "静静的山谷"),
        ("연구팀은 OpenVault를 공개했다. 개발자들은 이를 환영했다.", "OpenVault"),
        ("أعلن الفريق عن OpenVault في المؤتمر. ورحب المطورون بذلك.", "OpenVault"),
    ],
)
def test_scripts_without_large_letters_give_what_their_marks_and_foreign_words_say(text: str, name: str) -> None:
    assert name in names(found(text))


def test_relations_of_rules_only_say_that_two_names_share_a_sentence() -> None:
    context = found(ENGLISH)
    pairs = {(one.source, one.target) for one in context.relationships}
    assert any({"Rahel Lindqvist", "PostgreSQL"} == set(pair) for pair in pairs)
    assert {one.relation for one in context.relationships} == {MENTIONED_WITH}
    assert all(one.source in one.quote or "Lindqvist" in one.quote for one in context.relationships)


def test_names_at_the_end_of_a_long_text_are_found_as_well() -> None:
    filler = "The weather of the day was the same as that of the day before.\n" * 2_000
    known = names(found(filler + "At last Rahel Lindqvist opened the doors of Castle Brannick."))
    assert "Rahel Lindqvist" in known


def test_a_megabyte_of_hostile_text_takes_seconds() -> None:
    begun = time.process_time()
    for text in (
        "Ab " * 330_000,
        "A." * 500_000,
        "a-" * 500_000,
        "X's " * 250_000,
        "アイ・" * 330_000,
        '"' * 1_000_000,
    ):
        found(text)
    assert time.process_time() - begun < 10


def test_links_are_those_of_the_article_each_once_and_without_buttons_that_share_it() -> None:
    html = (
        '<a href="https://a.example/one#part">One</a> <a href="https://a.example/one">again</a> '
        '<a href="https://news.example.org/7">itself</a> <a href="mailto:x@example.org">mail</a> '
        '<a href="https://twitter.com/intent/tweet?url=x">Tweet</a> <a href="javascript:alert(1)">no</a>'
    )
    assert [(one.url, one.title) for one in extract_links(html, "https://news.example.org/7?utm_source=x")] == [
        ("https://a.example/one", "One")
    ]


def test_software_is_known_by_links_to_its_repository_and_by_commands_that_install_it() -> None:
    html = (
        '<a href="https://github.com/lanternfish-db/lanternfish/issues">here</a><pre>pip install -U quillwork\n</pre>'
    )
    known = names(found("Somebody wrote a program. It stores numbers, and others like it.", html))
    assert known == {"lanternfish": EntityKind.SOFTWARE, "quillwork": EntityKind.SOFTWARE}
    assert find_installed_programs("<code>rm -rf install x</code>") == ()


@pytest.mark.parametrize(
    ("title", "url", "kind"),
    [
        ("How to build a shed", "https://a.example/x", ContentType.GUIDE),
        ("Interview: the astronomer", "https://a.example/x", ContentType.INTERVIEW),
        ("Quillwork 2.1 released", "https://a.example/x", ContentType.RELEASE_NOTES),
        ("A view", "https://a.example/opinion/x", ContentType.OPINION),
        ("On stars", "https://arxiv.org/abs/1234.5678", ContentType.PAPER),
        ("A title", "https://a.example/x", ContentType.ARTICLE),
    ],
)
def test_what_kind_of_text_it_is_is_told_by_title_or_address(title: str, url: str, kind: ContentType) -> None:
    assert detect_content_type(title, url, "word " * 300) is kind


def test_the_field_is_told_by_the_section_of_the_site_or_not_at_all() -> None:
    assert detect_domain("https://a.example/wirtschaft/x") is Domain.BUSINESS
    assert detect_domain("https://sport.example.org/x") is Domain.SPORT
    assert detect_domain("https://a.example/2026/11/x") is None


def test_a_readme_is_made_safe_and_its_relative_addresses_lead_to_the_repository() -> None:
    html = '<h1>X</h1><script>alert(1)</script><img src="docs/a.png" onerror="x()"><a href="docs/b.md">b</a>'
    clean = readme_of(html, "https://github.com/o/n/blob/HEAD/", "https://github.com/o/n/raw/HEAD/")
    assert "script" not in clean
    assert "onerror" not in clean
    assert 'src="https://github.com/o/n/raw/HEAD/docs/a.png"' in clean
    assert 'href="https://github.com/o/n/blob/HEAD/docs/b.md"' in clean


def test_commands_in_large_letters_are_no_names() -> None:
    sentences = [
        "Write SELECT before the columns, and FILL when a value is missing.",
        "With SAMPLE BY and FILL the query in QuestDB is short; SELECT is enough.",
    ]
    names = {one.name for one in candidates(sentences, "FILL and SELECT in QuestDB", "en")}
    assert "QuestDB" in names
    assert not names & {"SELECT", "FILL", "SAMPLE", "BY"}


def test_a_german_noun_before_a_number_is_no_program() -> None:
    sentences = ["Die Zahl 4.2 überrascht.", "Danach sank die Zahl 3.9 weiter, und die Zahl blieb klein."]
    assert "Zahl" not in {one.name for one in candidates(sentences, "Die Zahl des Tages", "de")}
