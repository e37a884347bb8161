"""The quick way from a feed's HTML to lines of text."""

from pressbox.curator.text.plain_text import to_plain_text


def test_blocks_are_lines_and_cells_are_words() -> None:
    html = (
        "<p>One <b>two</b></p><table><tr><th>Line</th><td>Fades</td></tr><tr><td>Footpath</td><td>5</td></tr></table>"
    )
    assert to_plain_text(html) == "One two\nLine Fades\nFootpath 5"


def test_what_nobody_reads_is_no_text() -> None:
    assert to_plain_text("<script>one()</script><!-- two --><p title='a > b'>three &amp; four</p>") == "three & four"


def test_what_is_never_closed_goes_to_the_end_and_costs_no_more_than_its_length() -> None:
    assert to_plain_text("<p>one</p><SCRIPT>two") == "one"
    assert to_plain_text("one<!-- two") == "one"
    # Each of these would be looked at again from every beginning by a careless pattern: minutes instead of nothing.
    for hostile in ("<script ", "<!-- ", "<p ", "<p '", "<", '<a "'):
        assert len(to_plain_text(hostile * 50_000)) < 1_000_000
