"""Feeds of every kind, and what becomes of the odd things in them."""

import contextlib
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.feeds.domain import FeedEntry, ParsedFeed
from pressbox.curator.feeds.parser import LoginPageError, NotAFeedError, parse_feed
from pressbox.curator.library.domain import Enclosure

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
URL = "https://example.org/blog/feed.xml"
NAMESPACES = (
    'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" '
    'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"'
)


def rss(items: str, channel: str = "<title>News</title><link>https://example.org/</link>") -> str:
    return f'<?xml version="1.0"?><rss version="2.0" {NAMESPACES}><channel>{channel}{items}</channel></rss>'


def atom(entries: str, feed: str = "<title>News</title>", attributes: str = "") -> str:
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {attributes}>{feed}{entries}</feed>'


def read(document: str | bytes, content_type: str = "", limit: int | None = None) -> ParsedFeed:
    content = document.encode() if isinstance(document, str) else document
    return parse_feed(content, content_type, URL, now=NOW, limit=limit)


def entry(document: str) -> FeedEntry:
    (only,) = read(document).entries
    return only


def test_rss_is_read_with_everything_it_says() -> None:
    feed = read(
        rss(
            "<item><guid isPermaLink='false'>a1</guid><link>/posts/1</link><title>One &amp; only</title>"
            "<dc:creator>Jane Doe</dc:creator><pubDate>Sat, 28 Feb 2026 10:00:00 +0100</pubDate>"
            "<description>Short</description><content:encoded><![CDATA[<p>Long <b>text</b></p>]]></content:encoded>"
            "<enclosure url='/a.mp3' type='audio/mpeg' length='123'/></item>",
            "<title>News</title><link>https://example.org/</link><description>All of it</description>"
            "<language>de-DE</language><ttl>90</ttl><image><url>/logo.png</url><title>x</title></image>",
        )
    )
    assert feed == ParsedFeed(
        title="News",
        site_url="https://example.org/",
        description="All of it",
        language="de-de",
        icon_url="https://example.org/logo.png",
        hub_interval=timedelta(minutes=90),
        entries=(
            FeedEntry(
                guid="a1",
                url="https://example.org/posts/1",
                title="One & only",
                author="Jane Doe",
                published_at=datetime(2026, 2, 28, 9, 0, tzinfo=UTC),
                content="<p>Long <b>text</b></p>",
                summary=feed.entries[0].summary,
                enclosures=(Enclosure("https://example.org/a.mp3", "audio/mpeg", 123),),
            ),
        ),
    )
    assert "Short" in feed.entries[0].summary


def test_atom_is_read_with_everything_it_says() -> None:
    feed = read(
        atom(
            "<entry><id>tag:1</id><title type='html'>A &lt;b&gt;bold&lt;/b&gt; claim</title>"
            "<link rel='self' href='/entry/1.atom'/><link rel='alternate' type='text/html' href='1.html'/>"
            "<link rel='enclosure' href='1.mp4' type='video/mp4'/>"
            "<published>2026-02-27T23:30:00-05:00</published><updated>2026-02-28T12:00:00Z</updated>"
            "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>Text &amp; more</p></div></content>"
            "<summary type='text'>1 &lt; 2</summary></entry>",
            "<title>News</title><subtitle>Sub</subtitle><link href='https://example.org/blog/'/>"
            "<author><name>Desk</name></author><icon>/i.png</icon>",
            "xml:lang='en' xml:base='https://example.org/blog/posts/'",
        )
    )
    (found,) = feed.entries
    assert (feed.title, feed.description, feed.language) == ("News", "Sub", "en")
    assert (feed.site_url, feed.icon_url) == ("https://example.org/blog/", "https://example.org/i.png")
    assert found.title == "A bold claim"
    assert found.url == "https://example.org/blog/posts/1.html"
    assert found.author == "Desk"
    assert found.published_at == datetime(2026, 2, 28, 4, 30, tzinfo=UTC)
    assert found.updated_at == datetime(2026, 2, 28, 12, 0, tzinfo=UTC)
    assert "<p>Text &amp; more</p>" in found.content
    assert "1 &lt; 2" in found.summary
    assert found.enclosures == (Enclosure("https://example.org/blog/posts/1.mp4", "video/mp4", None),)


def test_json_feed_is_read() -> None:
    feed = read(
        '{"version": "https://jsonfeed.org/version/1.1", "title": "News", "home_page_url": "https://example.org/",'
        '"language": "en", "favicon": "/f.png", "authors": [{"name": "Desk"}], "items": ['
        '{"id": 7, "url": "/7", "title": "Seven", "content_html": "<p>Hi</p><script>x()</script>", "image": "/7.png",'
        '"date_published": "2026-02-28T10:00:00Z", "attachments": [{"url": "/7.mp3", "mime_type": "audio/mpeg"}]},'
        '{"id": "8", "content_text": "A note\\n\\nwith <b>two</b> parts"}]}'
    )
    seven, eight = feed.entries
    assert (feed.title, feed.icon_url) == ("News", "https://example.org/f.png")
    assert (seven.guid, seven.url, seven.author) == ("7", "https://example.org/7", "Desk")
    assert seven.content == "<p>Hi</p>"
    assert seven.thumbnail_url == "https://example.org/7.png"
    assert eight.content == "<p>A note</p>\n<p>with &lt;b&gt;two&lt;/b&gt; parts</p>"
    assert eight.title == "A note with <b>two</b> parts"


def test_rdf_has_its_items_beside_the_channel() -> None:
    found = entry(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><title>News</title></channel>'
        '<item rdf:about="https://example.org/1"><title>One</title><link>https://example.org/1</link>'
        "<dc:date>2026-02-28</dc:date></item></rdf:RDF>"
    )
    assert (found.guid, found.title) == ("https://example.org/1", "One")
    assert found.published_at == datetime(2026, 2, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    "start",
    [
        '<rss version="0.91">',
        '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://example.org/rss.dtd"><rss>',
        '<rss version="2.0" xmlns="http://backend.userland.com/rss2">',
        '<?xml-stylesheet href="/s.css"?><!-- made by hand --><rss version="0.92">',
    ],
)
def test_old_kinds_of_rss_are_read(start: str) -> None:
    item = "<item><title>One</title><link>https://example.org/1</link></item>"
    assert entry(f"{start}<channel><title>News</title>{item}</channel></rss>").title == "One"


def test_atom_of_before_its_standard_is_read() -> None:
    found = entry(
        '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>News</title><entry><id>1</id><title>One</title>'
        "<issued>2026-02-28T10:00:00Z</issued><content type='text/html' mode='escaped'>&lt;p&gt;Hi&lt;/p&gt;</content>"
        "</entry></feed>"
    )
    assert found.content == "<p>Hi</p>"
    assert found.published_at == datetime(2026, 2, 28, 10, 0, tzinfo=UTC)


def test_a_youtube_channel_is_a_feed_with_thumbnails_and_descriptions() -> None:
    found = entry(
        '<feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:media="http://search.yahoo.com/mrss/" '
        'xmlns="http://www.w3.org/2005/Atom"><title>Channel</title><entry><id>yt:video:abc</id><title>Film</title>'
        '<link rel="alternate" href="https://www.youtube.com/watch?v=abc"/><published>2026-02-28T10:00:00+00:00</published>'
        '<media:group><media:content url="https://www.youtube.com/v/abc" type="application/x-shockwave-flash"/>'
        '<media:thumbnail url="https://i.ytimg.com/abc.jpg" width="480" height="360"/>'
        "<media:description>First line\nsecond &lt;line&gt;</media:description></media:group></entry></feed>"
    )
    assert found.thumbnail_url == "https://i.ytimg.com/abc.jpg"
    assert found.content == "<p>First line<br>second &lt;line&gt;</p>"
    assert found.enclosures == ()


def test_the_widest_picture_is_the_thumbnail_and_otherwise_the_first_of_the_text() -> None:
    several = (
        "<item><guid>1</guid><media:thumbnail url='/s.png' width='90'/><media:content url='/l.png' medium='image' "
        "width='900'/></item>"
    )
    assert entry(rss(several)).thumbnail_url == "https://example.org/l.png"
    inside = (
        "<item><link>https://example.org/a/b</link><description>&lt;img src='https://t.example/p.gif' width='1' "
        "height='1'&gt;&lt;img src='c.png'&gt;</description></item>"
    )
    assert entry(rss(inside)).thumbnail_url == "https://example.org/a/c.png"


def test_html_with_scripts_is_harmless_and_its_addresses_whole() -> None:
    found = entry(
        rss(
            "<item><link>https://example.org/posts/1</link><description><![CDATA[<script>steal()</script>"
            '<p onclick="steal()">Text</p><img src="pic.png" onerror="steal()"><a href="javascript:steal()">x</a>'
            '<a href="../2">next</a><iframe src="https://evil.example/"></iframe>]]></description></item>'
        )
    )
    assert "steal" not in found.content
    assert "<script" not in found.content
    assert "<iframe" not in found.content
    assert "https://example.org/posts/pic.png" in found.content
    assert 'href="https://example.org/2"' in found.content


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("AT&amp;amp;T", "AT&T"),
        ("&lt;b&gt;Bold&lt;/b&gt; words", "Bold words"),
        ("<![CDATA[Caf&eacute; &#8211; now]]>", "Café – now"),
        ("Why &lt;main&gt; matters", "Why <main> matters"),
        ("2 &lt; 3 &amp; 4 &gt; 3", "2 < 3 & 4 > 3"),
        ("  two\n lines ", "two lines"),
        ("x" * 600, "x" * 499 + "…"),
    ],
)
def test_titles_are_plain_text(stated: str, shown: str) -> None:
    assert entry(rss(f"<item><guid>1</guid><title>{stated}</title></item>")).title == shown


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("<xh:div>Less: <xh:em>is</xh:em> more</xh:div>", "Less: is more"),
        ("<xh:div><xh:p>One</xh:p><xh:p>two</xh:p></xh:div>", "One two"),
        ("<xh:div>Why <xh:code>&lt;main&gt;</xh:code> matters &amp; how</xh:div>", "Why <main> matters & how"),
        ("<xh:div><xh:h1>Head<xh:sub>2</xh:sub></xh:h1></xh:div>", "Head2"),
    ],
)
def test_titles_of_xhtml_show_no_markup(stated: str, shown: str) -> None:
    title = f"<title type='xhtml' xmlns:xh='http://www.w3.org/1999/xhtml'>{stated}</title>"
    assert entry(atom(f"<entry><id>1</id>{title}</entry>")).title == shown
    assert read(atom("", title)).title == shown


def test_an_entry_without_a_title_is_called_by_its_first_words() -> None:
    found = entry(rss(f"<item><guid>1</guid><description>&lt;p&gt;Hello {'word ' * 40}&lt;/p&gt;</description></item>"))
    assert found.title.startswith("Hello word")
    assert len(found.title) <= 81


def test_an_entry_without_guid_is_known_by_its_link_however_that_is_spelt() -> None:
    item = "<item><link>http://EXAMPLE.org/1?utm_source=rss</link><title>One</title></item>"
    assert entry(rss(item)).guid == "https://example.org/1"


def test_an_entry_without_guid_and_link_is_known_by_its_content() -> None:
    def guid(title: str, date: str) -> str:
        return entry(rss(f"<item><title>{title}</title><pubDate>{date}</pubDate></item>")).guid

    monday, tuesday = "Mon, 23 Feb 2026 10:00:00 GMT", "Tue, 24 Feb 2026 10:00:00 GMT"
    assert guid("One", monday) == guid("One", tuesday) != guid("Two", monday)
    assert "Entries without a link: 1." in read(rss("<item><title>One</title></item>")).problems


def test_the_same_guid_twice_is_one_entry_and_said_so() -> None:
    feed = read(rss("<item><guid>1</guid><title>New</title></item><item><guid>1</guid><title>Old</title></item>"))
    assert [found.title for found in feed.entries] == ["New"]
    assert "Entries left out, because they have the guid of another one: 1." in feed.problems


@pytest.mark.parametrize("date", ["Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 01 Jan 2099 00:00:00 GMT", "0001-01-01"])
def test_dates_that_cannot_be_true_make_an_entry_undated(date: str) -> None:
    feed = read(rss(f"<item><guid>1</guid><pubDate>{date}</pubDate></item>"))
    assert feed.entries[0].published_at is None
    assert any("undated" in problem for problem in feed.problems)


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        ("Sat, 28 Feb 2026 10:00:00 +0100", datetime(2026, 2, 28, 9, 0, tzinfo=UTC)),
        ("Sat, 28 Feb 2026 10:00 EST", datetime(2026, 2, 28, 15, 0, tzinfo=UTC)),
        ("28 Feb 26 10:00:00 GMT", datetime(2026, 2, 28, 10, 0, tzinfo=UTC)),
        ("Sa, 28 Feb 2026 10:00:00 GMT+02:00", datetime(2026, 2, 28, 8, 0, tzinfo=UTC)),
        ("So., 15. März 2020 10:00:00 +0100", datetime(2020, 3, 15, 9, 0, tzinfo=UTC)),
        ("Feb 28, 2026", datetime(2026, 2, 28, tzinfo=UTC)),
        ("Sat Feb 28 10:00:00 2026", datetime(2026, 2, 28, 10, 0, tzinfo=UTC)),
        ("2026-02-28T10:00:00.123456Z", datetime(2026, 2, 28, 10, 0, tzinfo=UTC)),
        ("2026-02-28 10:00:00 -0500", datetime(2026, 2, 28, 15, 0, tzinfo=UTC)),
        ("20260228T100000Z", datetime(2026, 2, 28, 10, 0, tzinfo=UTC)),
        ("2026-02-27T24:00:00Z", datetime(2026, 2, 28, 0, 0, tzinfo=UTC)),
        ("2026-02", datetime(2026, 2, 1, tzinfo=UTC)),
    ],
)
def test_dates_are_read_as_programs_write_them(stated: str, meant: datetime) -> None:
    assert entry(rss(f"<item><guid>1</guid><pubDate>{stated}</pubDate></item>")).published_at == meant


@pytest.mark.parametrize("stated", ["yesterday", "31 Feb 2026", "", "2026-13-45", "x" * 10_000, "1" * 10_000])
def test_what_is_no_date_leaves_an_entry_undated(stated: str) -> None:
    assert entry(rss(f"<item><guid>1</guid><pubDate>{stated}</pubDate></item>")).published_at is None


def test_only_the_newest_entries_are_taken_when_there_are_too_many() -> None:
    items = "".join(f"<item><guid>{day}</guid><pubDate>2026-01-{day:02}</pubDate></item>" for day in (3, 20, 1, 19, 7))
    feed = read(rss(items), limit=2)
    assert [found.guid for found in feed.entries] == ["20", "19"]
    assert any("at most 2 are taken from one crawl: 3." in problem for problem in feed.problems)


@pytest.mark.parametrize(
    ("text", "charset", "declared", "content_type"),
    [
        ("Straße", "utf-8", "utf-8", ""),
        ("Straße", "utf-8", "iso-8859-1", "text/xml; charset=iso-8859-1"),
        ("Straße", "iso-8859-1", "iso-8859-1", ""),
        ("“Straße”", "cp1252", "iso-8859-1", ""),
        ("Straße", "cp1252", "utf-8", "application/xml; charset=utf-8"),
        ("Straße", "cp1252", "", ""),
        ("Straße", "utf-16", "utf-16", ""),
        ("Straße", "utf-16-le", "utf-16", ""),
        ("Straße", "utf-8-sig", "", ""),
        ("ニュース", "shift_jis", "Shift_JIS", ""),
        ("ニュース", "euc-jp", "", "text/xml; charset=EUC-JP"),
        ("ニュース", "iso-2022-jp", "ISO-2022-JP", ""),
        ("①㈱ニュース", "cp932", "Shift_JIS", ""),
        ("①㈱ニュース", "cp932", "x-sjis", ""),
        ("①㈱ニュース", "cp932", "windows-31j", ""),
        ("①㈱ニュース", "cp932", "", "text/xml; charset=x-sjis"),
        ("①㈱ニュース", "euc_jis_2004", "EUC-JP", ""),
        ("ニュース", "cp932", "Shift_JIS", "text/xml; charset=iso-8859-1"),
        ("髙島屋のニュース", "cp932", "", ""),
        ("髙島屋のニュース", "cp932", "utf-8", ""),
        ("ニュースと記事", "euc-jp", "", ""),
        ("Élan d'été à Málaga", "cp1252", "", ""),
        ("¥100 für Käse: “¤”", "cp1252", "", ""),
        ("新闻和文章", "gb18030", "gbk", ""),
        ("뉴스 똠", "cp949", "ks_c_5601-1987", ""),
        ("新聞", "big5", "x-x-big5", ""),
        ("Новости", "cp1251", "koi8-r", "text/xml; charset=windows-1251"),
        ("ข่าว", "cp874", "tis-620", ""),
        ("新闻", "gb18030", "gb2312", ""),
        ("Новости", "koi8-r", "koi8-r", ""),
        ("Straße", "utf-8", "x-unknown", ""),
    ],
)
def test_the_right_charset_is_found_whatever_is_declared(
    text: str, charset: str, declared: str, content_type: str
) -> None:
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else '<?xml version="1.0"?>'
    document = f"{declaration}<rss><channel><title>{text}</title></channel></rss>"
    assert read(document.encode(charset), content_type).title == text


@pytest.mark.parametrize(
    ("content", "charset", "meant"),
    [
        # 髙, ① and ㈱ as Windows writes them, where these encodings have nothing of their own.
        (b"\xfc\xe2\xc5\xe7\xb2\xb0 \xad\xa1\xad\xea", "EUC-JP", "髙島屋 ①㈱"),
        ("俱".encode("euc_jis_2004"), "EUC-JP", "俱"),
        (b"\x1b$B|bEg20\x1b(B \x1b$B-!-j\x1b(B!", "ISO-2022-JP", "髙島屋 ①㈱!"),
        (b"\x1b(I6E\x1b(B!", "ISO-2022-JP", "ｶﾅ!"),
        ("俱".encode("iso2022_jp_2004"), "ISO-2022-JP", "俱"),
    ],
)
def test_characters_of_windows_are_read_in_every_japanese_charset(content: bytes, charset: str, meant: str) -> None:
    document = b"<rss><channel><title>" + content + b"</title></channel></rss>"
    found = read(document, f"text/xml; charset={charset}")
    assert (found.title, found.problems) == (meant, ())


@pytest.mark.parametrize("charset", ["shift_jis", "euc-jp", "utf-8", "gb18030", "euc-kr"])
@pytest.mark.parametrize("declared", [True, False])
def test_a_damaged_byte_costs_one_character_and_not_the_charset(charset: str, declared: bool) -> None:
    text = {"euc-kr": "뉴스와 기사", "gb18030": "新闻和文章"}.get(charset, "ニュースと記事")
    declaration = f'<?xml version="1.0" encoding="{charset}"?>' if declared else ""
    document = f"{declaration}<rss><channel><title>{text}|</title></channel></rss>".encode(charset)
    kind = "application/xml" if declared else f"application/xml; charset={charset}"
    found = read(document.replace(b"|", b"\xff<b/>"), kind).title
    assert found.startswith(text)
    assert "�" in found


def test_a_wrong_charset_is_named() -> None:
    document = '<?xml version="1.0" encoding="utf-8"?><rss><channel><title>Straße</title></channel></rss>'
    assert "Windows-1252" in read(document.encode("cp1252")).problems[0]


ITEM = "<item><guid>1</guid><title>One</title><link>https://example.org/1?a=1&amp;b=2</link></item>"
NEXT = "<item><guid>2</guid><title>Two</title></item>"


@pytest.mark.parametrize(
    "broken",
    [
        rss(ITEM.replace("One", "One & only") + NEXT),
        rss(ITEM.replace("One", "One&nbsp;&hellip;&bogus;") + NEXT),
        rss(ITEM.replace("One", "One\x0b\x00") + NEXT),
        rss(ITEM.replace("<title>", "<foo:bar>x</foo:bar><title>") + NEXT),
        "<br />\n<b>Warning</b>: mysql on line 3\n" + rss(ITEM + NEXT),
        "\n\n  " + rss(ITEM + NEXT),
        rss(ITEM.replace("</guid>", "") + NEXT),
        rss(ITEM.replace("</item>", "<description><p>a<br>b</description></item>") + NEXT),
        rss(ITEM.replace("<title>", "<title type=text>") + NEXT),
        rss(ITEM + NEXT).removesuffix("</channel></rss>"),
        rss(ITEM + NEXT + "<item><guid>3</gu")[:-20],
        rss(ITEM + NEXT) + "<script>tracking()</script>",
        rss(ITEM.replace("One", "One < two") + NEXT),
    ],
)
def test_broken_xml_is_mended_and_named(broken: str) -> None:
    feed = read(broken)
    first, second, *_ = feed.entries
    assert first.title.startswith("One")
    assert first.url == "https://example.org/1?a=1&b=2"
    assert second.title == "Two"


def test_what_was_broken_is_named_with_its_line() -> None:
    assert "broken at line 3" in read(rss(f"\n\n{ITEM.replace('One', 'One & only')}")).problems[0]


def test_entities_of_a_documents_own_are_not_expanded() -> None:
    bomb = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    found = entry(bomb + rss("<item><guid>1</guid><title>x &b; &f;</title></item>").partition("?>")[2])
    assert found.title == "x &b; &f;"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"<!doctype html><html><body>Hello</body></html>", "web page"),
        (b"<html><script>var x = '<rss><channel>'</script></html>", "web page"),
        (b"just text", "neither RSS nor Atom"),
        (b'{"error": "not found"}', "neither RSS nor Atom"),
        (b"[1, 2]", "neither RSS nor Atom"),
        (b"[" * 100_000, "neither RSS nor Atom"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "neither RSS nor Atom"),
        (b"<urlset><url><loc>https://example.org/</loc></url></urlset>", "neither RSS nor Atom"),
        (b"<rss></rss>", "neither RSS nor Atom"),
    ],
)
def test_what_is_no_feed_is_told_by_what_it_is(content: bytes, reason: str) -> None:
    with pytest.raises(NotAFeedError, match=reason):
        read(content)


def test_a_page_to_sign_in_is_told_as_one() -> None:
    with pytest.raises(LoginPageError, match="sign in"):
        read(b"<html><form><input name=u><input type='password' name=p></form></html>")


def test_a_feed_without_entries_is_a_feed() -> None:
    assert read(rss("")).entries == ()
    assert read(atom("")).title == "News"


HOSTILE = (
    "<a ",
    "<![CDATA[",
    "<!-- ",
    "&",
    "&a",
    "<div>",
    "<!DOCTYPE [",
    "<item>",
    '<a b="',
    "<p ",
    "<input ",
    "]]>",
    "<x:y>",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_repetition_takes_long(piece: str) -> None:
    for front in (rss("<item><title>x</title><description>").removesuffix("</channel></rss>"), ""):
        content = (front + piece * (60_000 // len(piece))).encode()
        began = time.process_time()
        with contextlib.suppress(NotAFeedError):
            read(content)
        # A pattern that starts over at every piece takes ten times as long.
        assert time.process_time() - began < 3


@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"<rss><channel><item>", b"<feed><entry>", b'{"items": [', b"<rdf:RDF>"]),
)
def test_no_bytes_are_too_odd(noise: bytes, front: bytes) -> None:
    with contextlib.suppress(NotAFeedError):
        read(front + noise)


@given(
    st.lists(
        st.tuples(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=30)),
        max_size=5,
    )
)
def test_any_title_survives_as_text(titles: list[tuple[str]]) -> None:
    entries = "".join(
        f"<entry><id>{number}</id><title type='text'>{title.replace('&', '&amp;').replace('<', '&lt;')}</title></entry>"
        for number, (title,) in enumerate(titles)
    )
    feed = read(atom(entries))
    assert [found.title for found in feed.entries] == [" ".join(title.split()) for (title,) in titles]
