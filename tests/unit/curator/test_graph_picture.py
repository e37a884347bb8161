"""The picture of an entity: nothing stands on anything else, and the same neighbours give the same picture."""

from itertools import combinations

import pytest

from pressbox.curator.context.domain import EntityKind
from pressbox.curator.graph.domain import WIDTH, EntityView, Neighbour, Picture, Relation, Spot, drawn
from pressbox.curator.graph.pages import entity_address, passage_address


def entity(number: int, name: str = "Name", word: str = "knows") -> EntityView:
    neighbours = [
        Neighbour(f"key {one}", f"{name} {one}", EntityKind.OTHER, [Relation(word, one % 2 == 0, 1, ())])
        for one in range(number)
    ]
    among = [("key 0", "key 1"), ("key 0", "key 2"), ("key 0", "nobody")] if number > 2 else []
    return EntityView("middle", name, EntityKind.PERSON, (), 1, (), neighbours, among, False)


def picture(number: int, name: str = "Name", word: str = "knows") -> Picture:
    return drawn(entity(number, name, word), lambda word, entries: word or f"{entries} articles")


@pytest.mark.parametrize(
    "name", ["Name", "A name of very many words and letters indeed", "東京大学東京大学東京大学東京大学"]
)
@pytest.mark.parametrize("number", [1, 2, 7, 8, 24])
def test_no_node_stands_on_another_or_outside(number: int, name: str) -> None:
    drawn = picture(number, name)
    boxes = [*drawn.spots, drawn.middle]
    assert len(drawn.spots) == len(drawn.lines) == number
    assert all(box.x >= 0 and box.x + box.width <= WIDTH and 0 <= box.y <= drawn.height - box.height for box in boxes)
    assert not [(one.key, other.key) for one, other in combinations(boxes, 2) if overlap(one, other)]


def test_the_same_neighbours_give_the_same_picture() -> None:
    assert picture(9) == picture(9)


def test_arrows_and_words_tell_who_does_what() -> None:
    drawn = picture(2)
    assert [(line.toward, line.from_it, line.said) for line in drawn.lines] == [
        (False, True, True),
        (True, False, True),
    ]
    assert [spot.key for spot in drawn.spots] == ["key 1", "key 0"], "who points here stands left"
    for word, label in (("mentioned with", "mentioned with"), ("", "1 articles")):
        loose = picture(1, word=word).lines[0]
        assert (loose.said, loose.toward, loose.from_it, loose.label) == (False, False, False, label)


def test_lines_among_neighbours_join_only_what_is_in_the_picture() -> None:
    assert len(picture(3).among) == 2


def test_a_quote_opens_its_passage_by_its_beginning_and_end() -> None:
    page = "/reader/entries/7?list=all"
    assert passage_address(7, " ") == page
    assert passage_address(7, "Short, and well-known.") == f"{page}#:~:text=Short%2C%20and%20well%2Dknown."
    quote = " ".join(f"w{number}" for number in range(20))
    assert passage_address(7, quote) == f"{page}#:~:text=w0%20w1%20w2%20w3%20w4,w15%20w16%20w17%20w18%20w19"


def test_any_key_is_one_address() -> None:
    assert entity_address("tcp/ip & co?") == "/reader/graph/tcp%2Fip%20%26%20co%3F"


def overlap(one: Spot, other: Spot) -> bool:
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return across > 0 and down > 0
