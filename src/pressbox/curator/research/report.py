"""A report as HTML for its page, and as Markdown or a page of HTML to keep."""

import re
from collections.abc import Iterator, Mapping

from fastapi.responses import Response
from markupsafe import Markup, escape

from pressbox.core.errors import ConflictError
from pressbox.curator.ask.domain import Piece, PieceKind, clean_markdown, escape_markdown, markdown_address, pieces
from pressbox.curator.reading.access import PATH
from pressbox.curator.research.domain import ResearchMethod, Run, Source
from pressbox.curator.research.extracts import one_line

EXTRACTS = "Extracts: every sentence is quoted from the article that it names. No model took part."
_STYLE = Markup(
    "body{max-width:42rem;margin:2rem auto;padding:0 1rem;font:1.0625rem/1.6 Georgia,serif;color-scheme:light dark}"
    "blockquote{margin:.5rem 0;padding-left:.75rem;border-left:3px solid #888}small{color:#777}"
    ".cite{margin-left:.1em;font-size:.75em;vertical-align:super}"
)


def as_markdown(run: Run, base: str) -> str:
    sources = "\n".join(_markdown_source(source, base) for source in _sources(run))
    head = f"# {escape_markdown(run.question)}\n\n*{escape_markdown(_made(run))}*"
    return f"{head}\n\n{clean_markdown(run.report)}\n\n## Sources\n\n{sources}\n"


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
    address = markdown_address(material.url) or base + entry_address(material.entry_id)
    day = f", {material.published_at:%Y-%m-%d}" if material.published_at else ""
    quotes = "".join(f"\n    > {escape_markdown(quote.text)}\n" for quote in source.quotes)
    named = f"[{escape_markdown(material.title)}]({address})"
    return f"{source.number}. {named}, {escape_markdown(material.feed_title)}{day}\n{quotes}"


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


def entry_address(entry_id: int) -> str:
    return f"{PATH}/entries/{entry_id}"


_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s++(.*)$")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?=\S)")
_FORMS = {
    PieceKind.STRONG: Markup("<strong>{}</strong>"),
    PieceKind.EMPHASIS: Markup("<em>{}</em>"),
    PieceKind.CODE: Markup("<code>{}</code>"),
}
# The page itself has the first two levels.
_FIRST_LEVEL, _LAST_LEVEL = 3, 4


def render_report(text: str, addresses: Mapping[int, str]) -> Markup:
    """`addresses` say where the citation of a number leads; a number without one stays the text that it is."""
    return Markup("\n").join(_blocks(text, addresses))


def _blocks(text: str, addresses: Mapping[int, str]) -> Iterator[Markup]:
    for part in re.split(r"\n\s*\n", text.strip()):
        said: list[str] = []
        items: list[str] = []
        for line in part.split("\n"):
            heading = _HEADING.match(line)
            if heading or _ITEM.match(line):
                yield from _paragraph(said, addresses)
                said = []
            if heading or not _ITEM.match(line):
                yield from _list(items, addresses)
                items = []
            if heading:
                level = min(_FIRST_LEVEL + max(len(heading[1]) - 2, 0), _LAST_LEVEL)
                yield Markup("<h{0}>{1}</h{0}>").format(level, _inline(heading[2].rstrip("#").rstrip(), addresses))
            elif _ITEM.match(line):
                items.append(_ITEM.sub("", line))
            elif line.strip():
                said.append(line.strip())
        yield from _paragraph(said, addresses)
        yield from _list(items, addresses)


def _paragraph(lines: list[str], addresses: Mapping[int, str]) -> Iterator[Markup]:
    if lines:
        yield Markup("<p>{}</p>").format(_inline(" ".join(lines), addresses))


def _list(items: list[str], addresses: Mapping[int, str]) -> Iterator[Markup]:
    if items:
        drawn = Markup("").join(Markup("<li>{}</li>").format(_inline(item, addresses)) for item in items)
        yield Markup("<ul>{}</ul>").format(drawn)


def _inline(line: str, addresses: Mapping[int, str]) -> Markup:
    return Markup("").join(_drawn(piece, addresses) for piece in pieces(line))


def _drawn(piece: Piece, addresses: Mapping[int, str]) -> Markup:
    if piece.kind is PieceKind.CITATION:
        address = addresses.get(piece.number)
        if address is None:
            return escape(f"[{piece.text}]")
        return Markup('<a class="cite" href="{}">{}</a>').format(address, piece.text)
    form = _FORMS.get(piece.kind)
    return escape(piece.text) if form is None else form.format(piece.text)
