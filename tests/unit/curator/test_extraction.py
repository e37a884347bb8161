"""From pages to articles: real ones, ones with rules, and what comes along with the text."""

from datetime import UTC, datetime
from statistics import fmean

import pytest

from pressbox.bench.extract import Sample, demo_samples, extract_alone, extract_ours, f1, load_samples
from pressbox.core.errors import InvalidInputError, PermanentError
from pressbox.curator.articles.domain import FetchedArticle
from pressbox.curator.articles.extraction import extract_article, extract_feed_text
from pressbox.curator.library.domain import ExtractionRule
from pressbox.curator.text.languages import detect_language
from tests.shared_data import shared

# Some of the pages of mozilla/readability, from the plainest to those with most around the text.
REAL_PAGES = (
    "001",
    "base-url",
    "daringfireball-1",
    "heise",
    "mercurial",
    "rtl-1",
    "title-and-h1-discrepancy",
    "tumblr",
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
URL = "https://example.org/news/article.html"
PROSE = (
    "The old bridge over the river was closed for repairs in the spring, and the town had to find other ways to reach "
    "the station. Many people took the ferry, which ran every ten minutes until late at night."
)
MORE = (
    "In autumn the new bridge was opened by the mayor, who thanked the builders for their patience. The ferry goes on "
    "during the summer, because visitors like it, and because the town has become used to it."
)


def page(body: str, head: str = "") -> str:
    return (
        f"<!DOCTYPE html><html lang='en'><head><title>Bridge opened - The Town Paper</title>{head}</head><body>"
        "<nav><ul><li><a href='/'>Home</a></li><li><a href='/sport'>Sport</a></li></ul></nav>"
        f"<article><h1>Bridge opened</h1><p>{PROSE}</p>{body}<p>{MORE}</p></article>"
        "<aside><h3>Most read</h3><ul><li><a href='/a'>Ten things about cats</a></li></ul></aside>"
        "<footer><p>All rights reserved. Contact us. Privacy policy of this paper.</p></footer></body></html>"
    )


def extracted(html: str, *rules: ExtractionRule) -> FetchedArticle:
    return extract_article(html, URL, rules, NOW)


def pages() -> list[Sample]:
    """Those of the demo's newspapers, and real ones where they are at hand."""
    folder = shared("articles")
    real = [one for one in load_samples(folder) if one.name in REAL_PAGES] if folder else []
    assert len(real) in (0, len(REAL_PAGES))
    return [*demo_samples(), *real]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_article_of_a_page_is_found(page: Sample) -> None:
    article = extract_article(page.html, "http://example.org/a", (), NOW)
    assert not article.whole_page
    assert f1(article.text, page.expected) > 0.92


def test_the_article_comes_without_what_stands_around_it() -> None:
    article = extracted(page(""))
    assert article.title == "Bridge opened"
    assert PROSE in article.text
    assert MORE in article.text
    for around in ("Sport", "Most read", "cats", "Privacy"):
        assert around not in article.text
    # The reader shows the title itself.
    assert "Bridge opened" not in article.text
    assert (article.language, article.final_url, article.whole_page) == ("en", URL, False)


def test_tables_code_pictures_footnotes_and_films_come_along() -> None:
    article = extracted(
        page(
            "<table><tr><th>Year</th><th>Trips</th></tr><tr><td>2024</td><td>1200</td></tr></table>"
            "<pre><code>for trip in trips:\n    print(trip)</code></pre>"
            "<figure><img src='/bridge.jpg' alt='The bridge'><figcaption>The bridge at noon</figcaption></figure>"
            "<iframe src='https://www.youtube.com/embed/dQw4w9WgXcQ'></iframe>"
            "<p>This was said before<a href='#fn1'>1</a>, and it will be said again by everybody in the town hall.</p>"
            "<ol><li id='fn1'>In the yearly report of the town about bridges and ferries, page seven.</li></ol>"
        )
    )
    assert "<td>1200</td>" in article.html
    assert "for trip in trips:\n    print(trip)" in article.html
    assert 'src="https://example.org/bridge.jpg"' in article.html
    assert "The bridge at noon" in article.html
    assert "https://www.youtube.com/watch?v=dQw4w9WgXcQ" in article.html
    assert 'href="#text-fn1"' in article.html
    assert 'id="text-fn1"' in article.html
    assert article.thumbnail_url == "https://example.org/bridge.jpg"


def test_text_that_stands_between_blocks_is_found_too() -> None:
    html = (
        f"<html><body><div id='menu'><a href='/'>Home</a></div><div id='post'>{PROSE}<br><br>{MORE}"
        f"<ul><li>One thing that was seen</li></ul>{PROSE[:100]} And so it ended."
        "<table><tr><td>1</td></tr></table></div>"
        "<div id='end'><p>Powered by nothing</p></div></body></html>"
    )
    article = extracted(html)
    assert not article.whole_page
    assert "<ul><li>One thing that was seen</li></ul>" in article.html
    assert "And so it ended." in article.text
    assert "Powered" not in article.text
    assert "Home" not in article.text


def test_an_article_that_is_on_the_page_twice_is_read_once() -> None:
    twice = page(f"<div class='mobile'><p>{PROSE}</p></div>")
    assert extracted(twice).text.count(PROSE) == 1


def test_scripts_in_an_article_are_gone() -> None:
    article = extracted(
        page("<p onclick='alert(1)'>Press here, please, everybody who reads this page today.</p><script>x")
    )
    assert "alert" not in article.html
    assert "<script" not in article.html


def test_what_the_page_says_about_itself_is_kept() -> None:
    head = (
        "<meta property='og:title' content='Bridge opened'><meta property='og:image' content='/lead.jpg'>"
        "<meta property='article:published_time' content='2025-10-03T09:30:00+02:00'>"
        "<meta name='author' content='Town Desk'>"
    )
    article = extracted(page("", head))
    assert article.title == "Bridge opened"
    assert article.author == "Town Desk"
    assert article.thumbnail_url == "https://example.org/lead.jpg"
    assert article.published_at == datetime(2025, 10, 3, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize("date", ["2099-01-01T00:00:00Z", "1970-01-01", "yesterday", ""])
def test_a_date_that_cannot_be_true_is_none(date: str) -> None:
    head = f"<meta property='article:published_time' content='{date}'>"
    assert extracted(page("", head)).published_at is None


def test_linked_data_gives_the_date() -> None:
    data = '{"@graph": [{"@type": "NewsArticle", "datePublished": "2025-10-03"}]}'
    head = f"<script type='application/ld+json'>{data}</script><script type='application/ld+json'>{{broken</script>"
    assert extracted(page("", head)).published_at == datetime(2025, 10, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ('{"author": {"@type": "Person", "name": "Town Desk"}}', "Town Desk"),
        ('[{"author": [{"name": "One Desk"}, "Other Desk", {"url": "x"}]}]', "One Desk, Other Desk"),
        ('{"author": ["https://example.org/people/1"]}', "Marked Desk"),
        ('{"author": 7}', "Marked Desk"),
    ],
)
def test_the_author_is_whom_the_page_names_as_such(head: str, author: str) -> None:
    body = "<p>Written by <a rel='author' href='/x'>Marked Desk —</a> for all readers of this paper, as usual.</p>"
    html = page(body, f"<script type='application/ld+json'>{head}</script>")
    assert extracted(html).author == author


def test_the_base_of_the_page_counts() -> None:
    article = extracted(
        page("<p><img src='a.png'>A picture with a line below it that is long enough.</p>", "<base href='/x/'>")
    )
    assert "https://example.org/x/a.png" in article.html


@pytest.mark.parametrize(
    "rule",
    [ExtractionRule("css", "p.advert", keep=False), ExtractionRule("xpath", "//p[@class='advert']", keep=False)],
    ids=["css", "xpath"],
)
def test_a_rule_removes(rule: ExtractionRule) -> None:
    html = page("<p class='advert'>Buy two bridges and get the third one for nothing, only this week in your town.</p>")
    assert "third one" in extracted(html).text
    assert "third one" not in extracted(html, rule).text


def test_a_rule_keeps_only_what_it_finds_and_others_remove_from_it() -> None:
    html = page(
        "<div class='story'><p>Only this.</p><p class='no'>Not this.</p><div class='story'>And that, once.</div></div>"
    )
    keep, remove = ExtractionRule("css", ".story", keep=True), ExtractionRule("css", ".no", keep=False)
    assert extracted(html, keep, remove).text == "Only this.\nAnd that, once."


def test_a_rule_that_finds_nothing_changes_nothing() -> None:
    assert extracted(page(""), ExtractionRule("css", ".nowhere", keep=True)).text == extracted(page("")).text


@pytest.mark.parametrize(
    ("kind", "expression"), [("css", "p["), ("xpath", "//p["), ("xpath", "//p[unknown()]"), ("regex", "p"), ("css", "")]
)
def test_a_rule_that_cannot_be_read_says_so(kind: str, expression: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        extracted(page(""), ExtractionRule(kind, expression, keep=False))
    assert caught.value.field == "rules"


def test_a_rule_that_finds_no_elements_is_harmless() -> None:
    assert PROSE in extracted(page(""), ExtractionRule("xpath", "count(//p)", keep=True)).text
    assert PROSE in extracted(page(""), ExtractionRule("xpath", "//p/text()", keep=False)).text


def test_without_an_article_the_whole_page_is_kept_and_says_so() -> None:
    links = "".join(f"<li><a href='/{hour}'>Opened at {hour} o'clock</a></li>" for hour in range(8, 12))
    article = extracted(f"<html><body><nav>Menu</nav><ul>{links}</ul></body></html>")
    assert article.whole_page
    assert article.text.split("\n") == [f"Opened at {hour} o'clock" for hour in range(8, 12)]


@pytest.mark.parametrize(
    "html", ["<html><body><div id='root'></div><script>start()</script></body></html>", "<html></html>"]
)
def test_a_page_that_needs_scripts_has_nothing_to_read(html: str) -> None:
    with pytest.raises(PermanentError):
        extracted(html)


def test_the_text_of_a_feed_is_an_article_too() -> None:
    article = extract_feed_text(f"<p>{PROSE}</p><img src='/a.jpg'><script>x</script>", URL)
    assert article.text == PROSE
    assert article.language == "en"
    assert article.thumbnail_url == "https://example.org/a.jpg"
    assert extract_feed_text("", URL).text == ""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (PROSE, "en"),
        ("Die neue Brücke wurde gestern eröffnet, und viele Menschen kamen.", "de"),
        ("Le nouveau pont a été inauguré hier par le maire de la ville.", "fr"),
        ("新しい橋が昨日開通しました。", "ja"),
        ("新大桥昨天正式通车，许多市民前来参观，市长发表了讲话。", "zh"),
        ("새로운 다리가 어제 개통되었습니다.", "ko"),
        ("ok", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_text_is_told_or_left_open(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_hidden_text_is_not_part_of_the_article_unless_there_is_nothing_else() -> None:
    html = (
        f"<html><body><article><p>{PROSE}</p><p>{MORE}</p><p style='display: none'>{SECRET}</p></article></body></html>"
    )
    assert SECRET not in extracted(html).text
    shown_later = f"<html><body><article hidden><p>{PROSE}</p><p>{MORE}</p></article></body></html>"
    assert MORE in extracted(shown_later).text


def test_an_article_that_a_script_reveals_wins_over_the_teasers_around_it() -> None:
    teasers = "".join(f"<p>Another story of this week, number {number}, in two short lines.</p>" for number in range(6))
    html = (
        f"<html><body><div class='latest'>{teasers}</div><div class='article-content' style='display:none'>"
        f"<p>{PROSE}</p><p>{MORE}</p><p>{MORE} Again.</p><p>{PROSE} Once more.</p></div></body></html>"
    )
    assert MORE in extracted(html).text


def test_a_list_between_two_paragraphs_stays_and_one_of_links_goes() -> None:
    inside = "<ul><li>Bring a lamp</li><li>Bring bread</li></ul>"
    teasers = "<ul><li><a href='/a'>Other news</a></li></ul>"
    article = extracted(
        page(f"<p>{MORE}</p>{inside}<p>{PROSE} It went on.</p>{teasers}<p>{MORE} And then it ended.</p>")
    )
    assert "Bring a lamp" in article.text
    assert "Other news" not in article.text


SECRET = "Nobody who opens this page in a browser ever reads this sentence of it."


def test_other_pages_are_read_at_least_as_well_as_by_the_extractor_alone() -> None:
    """On other pages than those above. Fast and precise are the best of the extractor's modes there."""
    folder = shared("providers")
    if folder is None:
        return
    known = {path.name for path in (shared("articles") or folder).iterdir()}
    samples = [one for one in load_samples(folder / "pages" / "readability") if one.name not in known]
    ours = fmean(f1(extract_ours(one.html), one.expected) for one in samples)
    alone = [
        fmean(f1(extract_alone(mode, one.html), one.expected) for one in samples) for mode in ("fast", "precision")
    ]
    assert ours >= max(alone)
