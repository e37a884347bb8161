"""Pages from templates: one Jinja environment per language, with the frame's navigation, times, counts and icons.

`render(request, "status.html", parts=…)` is all a page needs. Core templates have plain names; those of an application
lie in the `templates` folders of its package and are named with its prefix: `footy/index.html`.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from importlib.metadata import version
from typing import Any

from babel import Locale
from babel.numbers import format_decimal
from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined, pass_context
from jinja2.ext import Extension
from jinja2.runtime import Context
from markupsafe import Markup, escape

from pressbox.core.app import AppManifest
from pressbox.core.web import times
from pressbox.core.web.assets import PREFETCH_RULES, StaticFiles, static_files
from pressbox.core.web.browsers import browser_in_words
from pressbox.core.web.folders import CORE_PACKAGE, find_folders
from pressbox.core.web.languages import LANGUAGES, choose_language, locale_of, translations
from pressbox.core.web.sentences import sentences, work_titles

SCHEME_COOKIE = "pressbox_scheme"
SCHEMES = ("light", "dark")
INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)


def render(request: Request, name: str, status: int = 200, **context: Any) -> HTMLResponse:
    """The page `name` for whoever asks, in their language. Keywords are the template's variables."""
    manifests: Sequence[AppManifest] = getattr(request.app.state, "manifests", ())
    identity = context.pop("identity", None) or getattr(request.state, "identity", None)
    language = choose_language(getattr(identity, "language", None), request.headers.get("accept-language", ""))
    static = static_files(manifests)
    packages = tuple((manifest.name, manifest.package) for manifest in manifests if manifest.package)
    template = environment(packages, static, language).get_template(name)
    scheme = request.cookies.get(SCHEME_COOKIE)
    frame = {
        "request": request,
        "path": request.url.path,
        "status": status,
        "identity": identity,
        "manifests": manifests,
        "navigation": [manifest.navigation for manifest in manifests if manifest.navigation],
        "language": language,
        "scheme": scheme if scheme in SCHEMES else None,
        "zone": times.zone_of(request.cookies.get(times.ZONE_COOKIE)),
        "now": datetime.now(UTC),
        "temporal_away": getattr(request.app.state, "temporal_away", None),
    }
    headers = {"Content-Language": language, "Speculation-Rules": f'"{static.url(PREFETCH_RULES)}"'}
    return HTMLResponse(template.render(frame | context), status_code=status, headers=headers)


def translator(request: Request) -> Callable[[str], str]:
    """What gives a text of ours in the language of whoever asks."""
    identity = getattr(request.state, "identity", None)
    language = choose_language(getattr(identity, "language", None), request.headers.get("accept-language", ""))
    packages = (manifest.package for manifest in request.app.state.manifests if manifest.package)
    catalogue = translations(language, (CORE_PACKAGE, *packages))
    return lambda text: str(catalogue.gettext(text)) if text else ""


@cache
def environment(packages: tuple[tuple[str, str], ...], static: StaticFiles, language: str) -> Environment:
    """Everything that depends on the language only, and is therefore made once. A package has the name of its app."""
    loaders = {name: FileSystemLoader(find_folders(package, "templates")) for name, package in packages}
    made = Environment(
        loader=ChoiceLoader([FileSystemLoader(find_folders(CORE_PACKAGE, "templates")), PrefixLoader(loaders)]),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n", Unindented],
    )
    translated = (CORE_PACKAGE, *(package for _, package in packages))
    catalogue = translations(language, translated)
    made.install_gettext_translations(catalogue, newstyle=True)  # type: ignore[attr-defined]
    made.filters.update(_filters(locale_of(language)))
    made.filters["message"] = lambda text: commands(sentences(language, translated).translate(str(text)))
    titles = work_titles(language, translated)
    made.filters["work_title"] = titles.translate
    made.globals.update(static_url=static.url, product_version=version("pressbox"), languages=LANGUAGES)
    made.globals["work_titles"] = titles.pairs
    return made


class Unindented(Extension):
    """Keeps the indentation of templates out of the pages: a line break is white space enough."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return INDENTATION.sub("", source)


def _filters(locale: Locale) -> dict[str, Any]:
    @pass_context
    def clock(context: Context, value: datetime) -> Markup:
        zone, now = _zone_and_now(context)
        text = times.clock(value, locale, zone, now)
        return times.time_element(value, text, times.exact(value, locale, zone), "clock")

    @pass_context
    def relative(context: Context, value: datetime) -> Markup:
        zone, now = _zone_and_now(context)
        text = times.relative(value, locale, now)
        return times.time_element(value, text, times.exact(value, locale, zone), "relative")

    def in_zone(value: datetime, zone_name: str, after: datetime | None = None) -> Markup:
        zone = times.zone_of(zone_name)
        text = times.in_zone(value, locale, zone, after)
        return times.time_element(value, text, times.exact(value, locale, zone), None)

    def span(value: timedelta | float) -> str:
        return times.span(value if isinstance(value, timedelta) else timedelta(seconds=value), locale)

    def count(value: int | float) -> str:
        # Small numbers, of which a page may have hundreds, look the same in all our languages.
        return str(value) if isinstance(value, int) and 0 <= value < 1000 else format_decimal(value, locale=locale)

    def duration(value: timedelta | float) -> str:
        return times.duration(value if isinstance(value, timedelta) else timedelta(seconds=value))

    own = {"clock": clock, "relative": relative, "count": count, "duration": duration, "in_zone": in_zone, "span": span}
    return {**own, **_day_filters(locale), "commands": commands, "browser": browser_in_words}


def _day_filters(locale: Locale) -> dict[str, Any]:
    @pass_context
    def clock_seconds(context: Context, value: datetime) -> Markup:
        zone, now = _zone_and_now(context)
        text = times.clock_seconds(value, locale, zone, now)
        return times.time_element(value, text, times.exact(value, locale, zone), None)

    def weekday(value: date) -> str:
        return times.weekday(value, locale)

    def short_day(value: date) -> str:
        return times.short_day(value, locale)

    return {"clock_seconds": clock_seconds, "weekday": weekday, "short_day": short_day}


def commands(text: str) -> Markup:
    """Our messages name commands `like this`; a page shows them as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else part for number, part in enumerate(parts)
    )


def _zone_and_now(context: Context) -> tuple[tzinfo, datetime]:
    return context["zone"], context["now"]
