"""What refuses or fails is said in the reader's language, whatever was put into the sentence."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import pressbox
from pressbox.core.web.folders import CORE_PACKAGE
from pressbox.core.web.sentences import sentences, work_titles
from pressbox.entry.manifests import APPLICATIONS
from pressbox.footy.domain.request_budget import RequestBudget
from pressbox.footy.domain.views import PollView, Readiness, SourceView
from pressbox.footy.readiness import check_readiness
from pressbox.footy.settings import FootySettings
from pressbox.footy.web.health import clock_parts, fixtures_part, month_part, source_part

PACKAGES = (CORE_PACKAGE, *(manifest.package for manifest in APPLICATIONS if manifest.package))
ROOT = Path(pressbox.__path__[0])
# Where messages are made that stand beside a form or on the page of an error.
SHOWN = (
    "core/accounts",
    "core/web/pages",
    "core/stored_settings",
    "delivery/domain",
    "digest",
    "delivery/service",
    "soonish/domain",
    "soonish/service",
    "soonish/adapters/calendar_reader.py",
    "soonish/adapters/event_rows.py",
    "soonish/adapters/subscription_rows.py",
    "soonish/web/event_form.py",
    "soonish/web/events.py",
    "soonish/web/forms.py",
    "curator/ask",
    "curator/cards/service.py",
    "curator/feeds/discovery.py",
    "curator/feeds/opml.py",
    "curator/graph/service.py",
    "curator/library/quotas.py",
    "curator/library/store.py",
    "curator/reading",
    "curator/research/pages.py",
    "curator/research/service.py",
    "curator/research/store.py",
    "curator/sources/pages.py",
    "curator/sources/domain.py",
    "curator/sources/service.py",
    "curator/sources/pages.py",
    "curator/sources/service.py",
    "curator/sources/store.py",
    "curator/translate/service.py",
    "curator/apps/pages.py",
    "curator/apps/service.py",
    "curator/apps/store.py",
)
# Where reasons are made that are stored beside a feed, an entry, an answer or a piece of work, and shown later.
STORED = (
    "core/http/backend.py",
    "core/http/client.py",
    "core/http/decoding.py",
    "core/http/url.py",
    "core/models/chat.py",
    "curator/articles",
    "curator/ask/activities.py",
    "curator/cards/activities.py",
    "curator/cards/github.py",
    "curator/context/workflow.py",
    "curator/distil/activities.py",
    "curator/feeds/crawler.py",
    "curator/feeds/parser.py",
    "curator/feeds/opml.py",
    "curator/feeds/parser.py",
    "curator/ingest/activities.py",
    "curator/library/parser_pool.py",
    "curator/search",
    "curator/translate/translators.py",
)
ERRORS = {"InvalidInputError", "ConflictError", "NotFoundError", "RateLimitedError", "GoneError", "ForbiddenError"}
# What footy shows beside them: on the page of a goal why a source or a clip failed, and on the status page.
FAILURES = {
    "ConfigurationError",
    "DateRefusedError",
    "NotAVideoError",
    "PermanentError",
    "SourceBlockedError",
    "SourceBusyError",
    "SourceError",
    "SourceLoginError",
    "SourceRefusedError",
    "TooLargeError",
    "TransientError",
    "UnusableAnswerError",
}
# Of the web UI of Temporal, for administrators, and an address that was wrong by the words of its checker.
ENGLISH = ("Temporal runs elsewhere", "Temporal's web UI is off", "{wrong}", "7: 7", "7: cancelled")
# What an administrator set wrongly, said in the words of the settings; texts of others; nobody is shown these.
FOR_OPERATORS = (
    "The model 7 cannot",
    "The vectors of",
    "PRESSBOX_",
    "It rebuilds itself within minutes",
    "Answer the question with the numbered passages",
    "7 7",
    "7: 7",
)


def files(places: tuple[str, ...]) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def messages() -> Iterator[str]:
    for file in files(SHOWN):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS and node.args:
                yield from text_of(node.args[0])


def stored_reasons() -> Iterator[str]:
    """What errors and crawls are made with, and the sentences that stand as constants beside them."""
    for file in files(STORED):
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("Error") and node.args:
                yield from text_of(node.args[0])
            if isinstance(node, ast.keyword) and node.arg == "reason":
                yield from text_of(node.value)
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.Dict):
                yield from (text for text in constants_of(node.value) if text.endswith(".") and " " in text)


def constants_of(node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value.replace("{reason}", "7")


def text_of(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else example_of(ast.unparse(part)) for part in node.values
        )


def example_of(expression: str) -> str:
    return "cancelled" if "status" in expression else "{wrong}" if "wrong" in expression else "7"


def test_every_refusal_of_a_form_has_a_german_sentence() -> None:
    german = sentences("de", PACKAGES)
    found = [text for text in dict.fromkeys(messages()) if not text.startswith(ENGLISH)]
    assert len(found) > 100
    untranslated = [text for text in found if german.translate(text) == text]
    assert untranslated == [], f"Add to translations/de.po, with %(number)s for what is put in: {untranslated}"


def test_every_stored_reason_has_a_german_sentence() -> None:
    german = sentences("de", PACKAGES)
    found = [text for text in dict.fromkeys(stored_reasons()) if " " in text and not text.startswith(FOR_OPERATORS)]
    assert len(found) > 80
    untranslated = [text for text in found if german.translate(text) == text]
    assert untranslated == [], f"Add to translations/de.po, with %(number)s for what is put in: {untranslated}"


# Put together from several pieces, or said by Python; what the terminal alone shows.
IN_PIECES = (
    "7: 7",
    "7:",
    "7 soon",
    "7 worker process7",
    "7 7",
    "7 X's",
    "7 of 7 posts",
    "This machine's",
    "The login 7",
)
# Too few letters of its own to be recognised among the words of others.
TOO_SHORT = ("Paused: 7.",)
# With one word or another in their place; each is in the catalogue.
TITLES_IN_PIECES = ("Summaries7", "Reminder for 7")
ON_TERMINALS = ("embedded", "entry", "demo", "bench")


def texts_of_parts() -> Iterator[str]:
    """What the status page can say of a part and what to do about it: written into its call, or named before it."""
    for file in sorted(ROOT.rglob("*.py")):
        if file.relative_to(ROOT).parts[0] not in ON_TERMINALS:
            for function in ast.walk(ast.parse(file.read_text())):
                if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and "PartHealth(" in ast.unparse(
                    function
                ):
                    yield from texts_of_function(function)


def texts_of_function(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("PartHealth", "ask", "_ask_part"):
            for value in node.args[2:]:
                yield from texts_of(value)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("detail", "fix"):
            yield from texts_of(node.value)


def texts_of(node: ast.expr) -> Iterator[str]:
    branches = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,)
    for branch in branches:
        yield from text_of(branch)


def test_what_the_status_page_says_of_parts_is_said_in_german() -> None:
    german = sentences("de", PACKAGES)
    found = [
        text
        for text in dict.fromkeys(texts_of_parts())
        if " " in text and not text.startswith((*IN_PIECES, *TOO_SHORT))
    ]
    assert len(found) > 30
    untranslated = [text for text in found if german.translate(text) == text]
    assert untranslated == [], f"Add to translations/de.po, with %(number)s for what is put in: {untranslated}"


def titles_of_work() -> Iterator[str]:
    """What workflows call themselves on the page Activity."""
    for file in sorted(ROOT.rglob("*.py")):
        if file.relative_to(ROOT).parts[0] in ("bench", "demo", "core"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("Progress"):
                yield from (text for word in node.keywords if word.arg == "title" for text in texts_of(word.value))


def test_what_work_is_called_is_said_in_german() -> None:
    german, english = work_titles("de", PACKAGES), work_titles("en", PACKAGES)
    found = [text for text in dict.fromkeys(titles_of_work()) if text.strip("7 ") and text not in TITLES_IN_PIECES]
    assert len(found) > 25
    known = {words for _, words in german.pairs}
    untranslated = [
        text for text in found if german.translate(text) == text and text.replace("7", "%(number)s") not in known
    ]
    assert untranslated == [], f"Add to translations/de.po with msgctxt “work”: {untranslated}"
    assert [english.translate(text) for text in found] == found


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("Articles of Cleaning up", "Artikel von Cleaning up"),
        ("Graph of entities, built anew", "Graph wird neu aufgebaut"),
        ("Downloading clips of m salah’s goal, attempt 3", "Clips zum Tor von m salah werden geladen, Versuch 3"),
        ("Summaries of Tagesschau", "Zusammenfassungen von Tagesschau"),
        ("Reminder for subscription 7", "Erinnerung für Anmeldung 7"),
        ("Tagesschau", "Tagesschau"),
        # A source may be called as anything of ours is; a word of the pages is no title of work.
        ("Settings", "Settings"),
    ],
)
def test_a_title_of_work_keeps_the_names_in_it(english: str, german: str) -> None:
    assert work_titles("de", PACKAGES).translate(english) == german


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("At most 12 tags.", "Höchstens 12 Tags."),
        ("Namespace one answered in 3 ms.", "Der Namespace one hat in 3 ms geantwortet."),
        ("The password is wrong.", "Das Passwort ist falsch."),
        ("Nobody has translated this.", "Nobody has translated this."),
        (
            "The page could not be read. example.org broke off or does not speak HTTP.",
            "Die Seite ließ sich nicht lesen. example.org hat abgebrochen oder spricht kein HTTP.",
        ),
        (
            "The XML is broken at line 3; it was repaired and read. Somebody else's words.",
            "Das XML ist in Zeile 3 kaputt; es wurde repariert und gelesen. Somebody else's words.",
        ),
        ("", ""),
    ],
)
def test_a_finished_sentence_is_found_by_its_pattern(english: str, german: str) -> None:
    assert sentences("de", PACKAGES).translate(english) == german
    assert sentences("en", PACKAGES).translate(english) == english


def test_the_health_of_footy_is_told_in_german() -> None:
    """Every line that its parts can show, in the states that change their words."""
    now = datetime(2026, 11, 14, 12, 0, tzinfo=UTC)
    ready, poll = Readiness((), ()), PollView("run", now, now, 7, 0)
    low = RequestBudget(
        day=now.date(),
        day_limit=100,
        day_left=7,
        plan="Free",
        poll_seconds=90,
        ids_refused_until=now + timedelta(hours=1),
    )
    paused = RequestBudget(
        paused_until=now + timedelta(minutes=1), pause_reason="API-Football: the requests of this minute are used up."
    )
    parts = [
        fixtures_part(check_readiness(FootySettings()), (), RequestBudget(), now),
        fixtures_part(ready, (), RequestBudget(), now),
        fixtures_part(ready, (poll,), low.model_copy(update={"poll_seconds": None}), now),
        fixtures_part(ready, (replace(poll, failed=2),), RequestBudget(), now),
        fixtures_part(ready, (poll,), low, now),
        fixtures_part(ready, (poll,), paused, now),
        fixtures_part(ready, (poll,), paused.model_copy(update={"pause_needs_change": True}), now),
        *(part for seconds in (0, 300, -300) for part in clock_parts(RequestBudget(clock_ahead_seconds=seconds))),
        month_part(7, 10_000, 0.005),
        month_part(9_999, 10_000, 0),
        source_part(SourceView("reddit", now, now, 3, ""), now),
        source_part(SourceView("reddit", now - timedelta(days=1), None, 3, ""), now),
        source_part(SourceView("reddit", now, None, 0, "reddit: answered 503."), now),
    ]
    german = sentences("de", PACKAGES)
    texts = [text for part in parts for text in (part.name.capitalize(), part.detail, part.fix) if text]
    english = {"is", "are", "the", "of", "not", "found", "last", "poll", "at", "and"}
    left = {text: words for text in texts if (words := english & set(german.translate(text).lower().split()))}
    assert left == {}
