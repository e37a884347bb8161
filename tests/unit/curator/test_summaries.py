"""Offline summaries: whole sentences, the telling ones, in the order of the text, without what every page says."""

import pytest

from pressbox.curator.distil.extractive import summarise
from pressbox.curator.library.domain import ToDistil
from pressbox.curator.text.plain_text import clamp_range, find_main_lines, is_boilerplate, number_lines
from pressbox.curator.text.sentences import extract_terms, is_whole, split_sentences, summary_length

ENGLISH = """Share this
By the town desk
The new bridge over the river was opened on Monday after three years of work. Traffic on the bridge began at noon.
Dr. Miller, who planned the bridge, said that it cost $3.50 million. The weather was fine.
Some people had come early. The mayor thanked the builders of the bridge and the people of the town for their patience.
The river ferry goes on until the end of the year, because not everybody can use the bridge yet. Lunch was served.
Birds were singing. Traffic in the town is expected to fall by a third when the second lane of the bridge opens in May.
Read more: Ten bridges you must see
© 2025 The Town Paper. All rights reserved."""
JAPANESE = """この記事をシェア
新しい橋が月曜日に開通した。工事は三年間続いた。橋の建設費用は三億円だった。天気は良かった。
市長は橋の完成を祝い、橋の建設に関わった人々に感謝した。渡し船の運航は今年の終わりまで続く。
橋の第二車線は五月に開通する予定で、町の交通量は三分の一減る見込みだ。鳥が鳴いていた。「橋は便利だ。」と住民は話した。
関連記事"""


def to_distil(text: str, language: str = "en", title: str = "Bridge opened") -> ToDistil:
    return ToDistil(entry_id=1, title=title, text=text, language=language, content_hash="h")


def test_a_summary_has_the_telling_sentences_in_reading_order() -> None:
    distilled = summarise(to_distil(ENGLISH), 4)
    sentences = [one.text for one in split_sentences([distilled.summary], 0, 0, "en")]
    assert len(sentences) == 3
    places = [ENGLISH.index(sentence) for sentence in sentences]
    assert places == sorted(places)
    assert "The new bridge over the river was opened on Monday" in distilled.summary
    for beside_the_point in ("Birds", "Lunch", "weather", "Share", "Read more", "rights"):
        assert beside_the_point not in distilled.summary
    assert distilled.language == "en"


ATTACK = """Officials had promised a quiet week for the harbour town of Lissau, where fishing boats lay idle in rain.
A bomb attack on the market of Lissau killed at least 14 people and wounded 30 on Saturday, the police said.
Fishing is what most people in the harbour town live on, and the harbour is what most visitors come to see.
The harbour town has had fishing boats since the harbour was built, and the boats still leave the harbour at four.
Visitors of the harbour town buy fish from the boats, and the boats of the town take visitors along.
The fishing season for boats of the town ends in autumn, when the harbour is closed to visitors and most boats.
Nobody has claimed responsibility. The mayor called for calm in the town and asked visitors to avoid the centre.
Fishing boats from other harbour towns brought doctors, and the boats took people of the town to other harbours."""


@pytest.mark.parametrize(
    "title",
    ["At least 14 dead in attack on market", "Bomb attacks: Lissau mourns", "Lissau market attacked, many killed"],
)
def test_a_summary_never_lacks_what_the_title_announces(title: str) -> None:
    assert "killed at least 14 people" in summarise(to_distil(ATTACK, title=title), 4).summary
    assert "killed at least 14 people" not in summarise(to_distil(ATTACK, title="Weekend"), 4).summary


def test_what_every_page_says_is_trimmed_from_both_ends() -> None:
    distilled = summarise(to_distil(ENGLISH), 4)
    assert (distilled.main_content_start_line, distilled.main_content_end_line) == (1, 6)


def test_a_japanese_text_is_summarised_in_whole_sentences() -> None:
    distilled = summarise(to_distil(JAPANESE, "ja", "新しい橋"), 3)
    assert distilled.language == "ja"
    assert distilled.summary.count("。") == 3
    assert "橋" in distilled.summary
    assert "鳥" not in distilled.summary
    assert (distilled.main_content_start_line, distilled.main_content_end_line) == (1, 3)
    assert " " not in distilled.summary


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Die neue Brücke wurde am 3. Mai eröffnet. Dr. Müller hat z.B. den Bogen der Brücke geplant."),
        ("ko", "새로운 다리가 월요일에 개통되었다고 시장이 말했다. 공사는 삼 년 동안 계속되었다고 한다."),
        ("fr", "Le nouveau pont a été inauguré hier par le maire. Les travaux du pont ont duré trois ans."),
    ],
)
def test_a_short_text_is_its_own_summary(language: str, text: str) -> None:
    assert summarise(to_distil(text, language), 4).summary == text


@pytest.mark.parametrize(
    "text",
    [
        "Only a heading",
        "one two three",
        "1 | 2 | 3",
        "and this is the second half of a sentence.",
        "It breaks off …",
        "",
    ],
)
def test_half_sentences_make_no_summary(text: str) -> None:
    assert summarise(to_distil(text), 4).summary == ""


@pytest.mark.parametrize(
    "text",
    [
        "The bridge was opened on Monday by the mayor.",
        "“It is a fine bridge,” said the mayor on Monday.",
        "Er sagte: „Die Brücke ist sehr schön geworden.“",
        "The bridge (see the picture) was opened on Monday.[3]",
        "新しい橋が月曜日に開通した。",
    ],
)
def test_a_whole_sentence_is_recognised(text: str) -> None:
    assert is_whole(text)


@pytest.mark.parametrize(
    "text",
    [
        "“It is a fine bridge, said the mayor on Monday.",
        "The bridge (see the picture was opened on Monday.",
        "Read it at https://example.org/bridge today, everybody.",
        "Too short.",
        "The bridge was opened on Monday by the mayor,",
        "x" * 500 + ".",
    ],
)
def test_what_cannot_stand_alone_is_recognised(text: str) -> None:
    assert not is_whole(text)


def test_a_footnote_mark_does_not_enter_the_summary() -> None:
    assert "[3]" not in summarise(to_distil("The bridge was opened on Monday by the mayor.[3]"), 4).summary


def test_a_sentence_that_comes_twice_is_taken_once() -> None:
    text = "\n".join(["The bridge was opened on Monday by the mayor."] * 5)
    assert summarise(to_distil(text), 4).summary == "The bridge was opened on Monday by the mayor."


@pytest.mark.parametrize(
    "line",
    [
        "Share this",
        "SHARE ON FACEBOOK",
        "Teilen",
        "Read more »",
        "Lesen Sie auch: Zehn Brücken",
        "Advertisement",
        "Anzeige",
        "関連記事",
        "5 min read",
        "© 2025 Paper",
        "Sign up for our newsletter and never miss a story.",
        "   ",
        "12 comments",
    ],
)
def test_lines_of_every_page_are_known(line: str) -> None:
    assert is_boilerplate(line)


@pytest.mark.parametrize(
    "line",
    [
        "Share prices fell on Monday.",
        "Printing money is no answer.",
        "Home is where the heart is.",
        "Teilen ist wichtig.",
        "More on this subject was said by the mayor, who had waited for the bridge since he was a child.",
        "Searching",
    ],
)
def test_sentences_that_begin_like_buttons_stay(line: str) -> None:
    assert not is_boilerplate(line)


def test_a_text_of_nothing_but_buttons_is_kept_whole() -> None:
    assert find_main_lines(["Share this", "Menu"]) == (0, 1)
    assert find_main_lines([""]) == (0, 0)


def test_numbers_stand_before_lines_as_far_as_there_is_room() -> None:
    assert number_lines(["a", "b"], 100) == "0: a\n1: b"
    assert number_lines(["a" * 50, "b" * 50], 70) == "0: " + "a" * 50
    assert number_lines(["a" * 500], 10) == "0: " + "a" * 10


def test_a_range_of_lines_must_make_sense() -> None:
    assert clamp_range(0, 9, 5) == (0, 4)
    assert clamp_range(1, 2, 5) == (1, 2)
    assert clamp_range(3, 2, 5) is None
    assert clamp_range(-1, 2, 5) is None
    assert clamp_range(5, 6, 5) is None


def test_short_texts_have_shorter_summaries() -> None:
    assert [summary_length(available, 4) for available in (0, 1, 3, 5, 8, 9, 50)] == [0, 1, 3, 3, 3, 4, 4]
    assert summary_length(3, 2) == 2


def test_terms_are_words_with_meaning_and_pairs_of_characters() -> None:
    assert extract_terms("The bridge and the river", "en") == ["bridge", "river"]
    assert extract_terms("Die Brücke und der Fluss", "de") == ["brücke", "fluss"]
    assert extract_terms("新しい建設費", "ja") == ["新", "建設", "設費"]


def test_a_line_of_a_hundred_thousand_characters_is_split_in_reasonable_time() -> None:
    line = "This is a sentence about the things in it. " * 2_500
    assert len(split_sentences([line], 0, 0, "en")) == 2_500


def test_a_line_without_any_end_is_one_piece_and_bounded() -> None:
    assert len(split_sentences(["x" * 1_000_000], 0, 0, "ko")) == 1
