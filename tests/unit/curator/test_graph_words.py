"""What an entry says, and which entities a question may name."""

from pressbox.curator.context.domain import ContextMethod, Entity, EntityKind, EntryContext, Relationship
from pressbox.curator.graph.domain import LONGEST_NAME, MOST_ENTITIES, extract_phrases, extract_statements


def said(*entities: Entity, relations: tuple[Relationship, ...] = ()) -> EntryContext:
    return EntryContext(1, "hash", ContextMethod.LLM, entities=entities, relationships=relations)


def test_an_entity_is_said_once_with_the_better_kind() -> None:
    found = extract_statements(
        said(Entity("OpenAI"), Entity(" openai ", EntityKind.ORGANISATION, "A company", "quote"))
    )
    assert found.entities == {"openai": Entity("OpenAI", EntityKind.ORGANISATION, "A company", "quote")}


def test_a_relation_brings_its_ends_along_and_nothing_is_related_to_itself() -> None:
    relations = (
        Relationship("Ada", "Charles", "  Works\n WITH ", "They worked."),
        Relationship("Ada", "ADA", "is"),
        Relationship("Ada", "", "is"),
        Relationship("Ada", "Charles", " "),
    )
    found = extract_statements(said(Entity("Ada"), relations=relations))
    assert found.relations == {("ada", "charles", "works with"): "They worked."}
    assert list(found.entities) == ["ada", "charles"]


def test_what_is_no_name_is_left_out_and_a_list_has_an_end() -> None:
    assert extract_statements(said(Entity("…"), Entity(""), Entity("x" * (LONGEST_NAME + 1)))).entities == {}
    many = [Entity(f"Name {number}") for number in range(MOST_ENTITIES + 50)]
    relation = Relationship("Name 1", f"Name {MOST_ENTITIES + 1}", "knows")
    found = extract_statements(said(*many, relations=(relation,)))
    assert len(found.entities) == MOST_ENTITIES
    assert found.relations == {}


def test_phrases_of_a_question_are_its_words_and_runs_of_them() -> None:
    found = extract_phrases("What is OpenAI’s GPT Store?")
    assert found["openai"] == found["openai's"] == 1
    assert found["gpt store"] == 2
    assert found["what is openai's gpt store"] == 5
    assert extract_phrases(" … ") == {}


def test_scripts_without_spaces_are_looked_through_run_by_run() -> None:
    found = extract_phrases("東京大学はどこですか")
    assert {"東京", "東京大学", "大学"} <= set(found)
    assert len(extract_phrases("東京" * 500)) < 10_000
