"""Notices that stand before articles, and articles that only speak of such things."""

from datetime import UTC, datetime

import pytest

from pressbox.core.errors import PermanentError
from pressbox.curator.articles.domain import WALL, FetchedArticle, is_about, is_wall
from pressbox.curator.articles.extraction import NOTHING_TO_READ, extract_article
from pressbox.curator.ingest.fetcher import choose_richer
from tests.shared_data import shared

NOW = datetime(2026, 5, 4, tzinfo=UTC)
# These two of the folder are pages that somebody wanted to read.
NO_WALLS = {"cf_page_with_emails.html", "cf_requested_page.html"}
MASTODON = (
    "To use the Mastodon web application, please enable JavaScript. Alternatively, try one of the native apps for "
    "Mastodon for your platform."
)
CONSENT = (
    "Before you continue to YouTube\nWe use cookies and data to deliver and maintain Google services, track outages "
    "and protect against spam. "
    "If you choose to accept all, we will also use cookies and data to show personalized ads, "
    "depending on your settings.\nReject all\nAccept all\nMore options"
)
GERMAN = (
    "Wir und unsere Partner verwenden Cookies und ähnliche Technologien. Mit deiner Einwilligung werden persönliche "
    "Daten verarbeitet. Mehr dazu im Datenschutz. Zustimmen und weiter."
)

NEW_YORK = (
    "Thank you for your patience while we verify access. If you are in Reader mode please exit and log into your Times "
    "account, or subscribe for all of The Times.\nThank you for your patience while we verify access.\n"
    "Already a subscriber? Log in.\nWant all of The Times? Subscribe."
)
FRENCH = "Cet article est réservé aux abonnés. Il vous reste 85 % de cet article à lire. Déjà abonné ? Connectez-vous."
FRENCH_COOKIES = (
    "Avec votre accord, nous et nos 158 partenaires utilisons des cookies. Vous pouvez retirer votre consentement à "
    "tout moment."
)
SPANISH = "Este contenido es exclusivo para suscriptores. ¿Ya eres suscriptor? Inicia sesión. Suscríbete para leer más."
SPANISH_COOKIES = "Nosotros y nuestros 200 socios utilizamos cookies. Puedes retirar tu consentimiento cuando quieras."
JAPANESE = "この記事は有料会員限定です。残り1234文字。続きを読むには会員登録が必要です。ログインしてください。"
NEWS = "The town opened its library again on Monday, after two years of work. Children came first."


def test_no_recorded_wall_becomes_an_article() -> None:
    folder = shared("providers")
    for path in sorted((folder / "pages" / "walls").glob("*.html")) if folder else ():
        html = path.read_text(errors="replace")
        if path.name in NO_WALLS:
            assert extract_article(html, "https://example.org/a", (), NOW).text
            continue
        with pytest.raises(PermanentError) as refused:
            extract_article(html, "https://example.org/a", (), NOW)
        assert refused.value.message in (WALL, NOTHING_TO_READ), path.name


@pytest.mark.parametrize(
    ("text", "title", "url"),
    [
        (MASTODON, "Mastodon", "https://social.example/@a/1"),
        (CONSENT, "YouTube", "https://www.youtube.com/@channel"),
        ("Continue", "", "https://consent.youtube.com/m?continue=x"),
        (GERMAN, "Zeitung", "https://zeitung.example/a"),
        ("You've been blocked by network security. To continue, log in to your account.", "Reddit", ""),
        ("Enable JavaScript and cookies to continue", "Just a moment...", ""),
        ("Did someone say … cookies? X and its partners use cookies to provide you with a better service.", "X", ""),
        ("Continue\nUse of cookies", "Bevor Sie fortfahren: Ihre Wahl", "https://zeitung.example/a"),
        ("You must log in to continue. Your privacy choices", "", "https://login.example.org/"),
        ("Your access is denied.", "Access denied | www.example.org", "https://www.example.org/a"),
        (NEW_YORK, "A story", "https://www.nytimes.com/a"),
        (FRENCH, "Un article", "https://journal.example/a"),
        (FRENCH_COOKIES, "Un article", "https://journal.example/a"),
        (SPANISH, "Un artículo", "https://diario.example/a"),
        (SPANISH_COOKIES, "Un artículo", "https://diario.example/a"),
        (JAPANESE, "記事", "https://shimbun.example/a"),
        ("Subscribe to continue reading. Already a subscriber? Sign in.", "A story", ""),
    ],
)
def test_a_notice_is_a_wall(text: str, title: str, url: str) -> None:
    assert is_wall(text, title, url)


@pytest.mark.parametrize(
    "text",
    [
        "The bridge was opened on Monday. It is two kilometres long, and nobody had to pay for the first crossing.",
        "Cloudflare said on Monday that its captcha is gone. " + "The company protects a fifth of all sites. " * 12,
        "Browsers will block the use of cookies of others from May. " + "Publishers fear for their income now. " * 10,
        "Toot: I baked bread today!",
        "",
    ],
)
def test_an_article_is_none(text: str) -> None:
    assert not is_wall(text, "An article", "https://news.example/a")


@pytest.mark.parametrize(
    ("text", "title", "url"),
    [
        ("Erst denken, dann unterschreiben: Der Vertrag hat vierzig Seiten.", "Bevor Sie den Mietvertrag kündigen", ""),
        (NEWS, "Access denied: how a town lost its library", ""),
        (NEWS, "Blocked – a film about a street", ""),
        (NEWS, "Are you human? A philosopher asks", ""),
        (NEWS, "News of the service", "https://login.example.org/blog/1"),
        (NEWS, "News of the service", "https://auth.example.org/blog/1"),
        (NEWS, "News of the service", "https://privacy.example.org/a/1"),
        ("Le journal a perdu mille lecteurs en un an. Ses abonnés lui restent fidèles, dit la direction.", "", ""),
        ("El diario perdió mil lectores en un año. Sus suscriptores siguen fieles, dice la dirección.", "", ""),
        ("新聞社の会員は増えている。会員の半分は地方に住んでいると、同社は月曜日に発表した。", "", ""),
    ],
)
def test_a_short_article_is_none_whatever_its_title_and_host(text: str, title: str, url: str) -> None:
    assert not is_wall(text, title, url or "https://news.example/a")


def article(text: str, language: str = "en", *, whole_page: bool = False) -> FetchedArticle:
    return FetchedArticle(html=f"<p>{text}</p>", text=text, language=language, whole_page=whole_page)


def test_a_short_text_of_the_feed_wins_over_boilerplate() -> None:
    toot = article("I baked rye bread today, with sourdough from my grandmother in Salzburg.")
    page = article("Welcome to our community. Find out more about membership, rules and how to join. " * 10)
    assert choose_richer(page, toot).text == toot.text


def test_a_page_that_tells_the_whole_story_wins_over_its_teaser() -> None:
    teaser = article("Rye bread is back: bakers in Salzburg return to sourdough.")
    page = article("Bakers in Salzburg return to sourdough, and rye bread is back on the tables. " * 20)
    assert choose_richer(page, teaser) is page


def test_a_long_page_in_another_language_is_not_compared_by_words() -> None:
    teaser = article("Rye bread is back: bakers in the town return to sourdough again.")
    page = article("Das Roggenbrot ist wieder da, und die Bäcker kehren zum Sauerteig zurück. " * 60, "de")
    assert choose_richer(page, teaser) is page


def test_a_few_words_of_a_feed_say_nothing_about_the_page() -> None:
    assert is_about("Anything at all.", "Photo of the day")
