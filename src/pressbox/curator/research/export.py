"""A report to take along: Markdown, or a page of HTML that needs nothing else."""

from fastapi.responses import Response
from markupsafe import Markup, escape

from pressbox.core.errors import ConflictError
from pressbox.curator.research.domain.report import one_line
from pressbox.curator.research.domain.research import ResearchMethod, Run, Source
from pressbox.curator.research.report_text import render_report
from pressbox.curator.research.view import entry_address

EXTRACTS = "Extracts: every sentence is quoted from the article that it names. No model took part."
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>#|"})
_STYLE = Markup(
    "body{max-width:42rem;margin:2rem auto;padding:0 1rem;font:1.0625rem/1.6 Georgia,serif;color-scheme:light dark}"
    "blockquote{margin:.5rem 0;padding-left:.75rem;border-left:3px solid #888}small{color:#777}"
    ".cite{margin-left:.1em;font-size:.75em;vertical-align:super}"
)


def as_markdown(run: Run, base: str) -> str:
    sources = "\n".join(_markdown_source(source, base) for source in _sources(run))
    head = f"# {one_line(run.question).translate(_MARKDOWN)}\n\n*{_made(run)}*"
    return f"{head}\n\n{run.report}\n\n## Sources\n\n{sources}\n"


def as_html(run: Run, base: str) -> str:
    sources = _sources(run)
    report = render_report(run.report, {source.number: f"#source-{source.number}" for source in sources})
    items = Markup("").join(_html_source(source, base) for source in sources)
    return Markup(
        '<!doctype html>\n<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>{title}</title><style>{style}</style></head><body><h1>{title}</h1><p><small>{made}</small></p>"
        "<main>{report}</main><h2>Sources</h2>{items}</body></html>\n"
    ).format(title=one_line(run.question), style=_STYLE, made=_made(run), report=report, items=items)


def attachment(text: str, kind: str, name: str) -> Response:
    """To be saved and not shown: it is not a page of ours."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return Response(text, media_type=kind, headers=headers)


def _sources(run: Run) -> tuple[Source, ...]:
    if not run.report:
        raise ConflictError("This research has no report yet.", run_id=run.id)
    return run.sources


def _made(run: Run) -> str:
    day = f"{run.finished_at or run.created_at:%Y-%m-%d}"
    if run.method == ResearchMethod.EXTRACTS:
        return f"{day}. {EXTRACTS}"
    return f"{day}. Written by {run.model} from the sources below."


def _markdown_source(source: Source, base: str) -> str:
    material = source.material
    title = one_line(material.title).translate(_MARKDOWN)
    address = material.url.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
    day = f", {material.published_at:%Y-%m-%d}" if material.published_at else ""
    quotes = "".join(f"\n    > {one_line(quote.text).translate(_MARKDOWN)}\n" for quote in source.quotes)
    named = f"[{title}]({address or base + entry_address(material.entry_id)})"
    return f"{source.number}. {named}, {one_line(material.feed_title).translate(_MARKDOWN)}{day}\n{quotes}"


def _html_source(source: Source, base: str) -> Markup:
    material = source.material
    shown = Markup('<a href="{}">{}</a>').format(_safe(material.url, base, material.entry_id), material.title)
    day = f" · {material.published_at:%Y-%m-%d}" if material.published_at else ""
    quotes = Markup("").join(Markup("<blockquote>{}</blockquote>").format(quote.text) for quote in source.quotes)
    return Markup('<section id="source-{}"><p>[{}] {}<br><small>{}{}</small></p>{}</section>').format(
        source.number, source.number, shown, escape(material.feed_title), day, quotes
    )


def _safe(url: str, base: str, entry_id: int) -> str:
    """Entries have addresses of the web; whatever else there may be leads to our own page."""
    return url if url.startswith(("https://", "http://")) else base + entry_address(entry_id)
