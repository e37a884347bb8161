"""The distiller that needs no key and no network: it summarises a text by its own best sentences.

`summarise` is pure CPU work and runs in the parser pool.
"""

import re
from collections.abc import Sequence

from pressbox.curator.library.domain import EXTRACTIVE, Distilled, ToDistil
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.text.languages import detect_language
from pressbox.curator.text.plain_text import find_main_lines, is_boilerplate, split_lines
from pressbox.curator.text.sentences import choose_sentences, is_cjk, split_sentences

_FOOTNOTE = re.compile(r"\[\d{1,3}\]")
VERSION = "1"
# A book is not read to its end for four sentences.
LONGEST_READ = 40_000


class ExtractiveDistiller:
    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    @property
    def name(self) -> str:
        return EXTRACTIVE

    @property
    def prompt_version(self) -> str:
        return VERSION

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]:
        """Summarise texts in their own language, whatever `language` is wanted."""
        return await self._parsers.run(summarise_all, entries, sentences)


def summarise(entry: ToDistil, sentences: int) -> Distilled:
    """Summarise a text; the summary is empty when the text has no whole sentence."""
    lines = split_lines(entry.text)
    first, last = find_main_lines(lines)
    language = detect_language(entry.text) or entry.language.split("-")[0].lower()
    end = _last_line_read(lines, first, last)
    shown = ["" if is_boilerplate(line) else line for line in lines[: end + 1]]
    chosen = choose_sentences(split_sentences(shown, first, end, language), entry.title, language, sentences)
    between = "" if chosen and is_cjk(chosen[0].text) else " "
    return Distilled(
        entry_id=entry.entry_id,
        summary=between.join(_FOOTNOTE.sub("", sentence.text) for sentence in chosen),
        main_content_start_line=first,
        main_content_end_line=last,
        language=language,
        model=EXTRACTIVE,
        prompt_version=VERSION,
        content_hash=entry.content_hash,
    )


def summarise_all(entries: Sequence[ToDistil], sentences: int) -> tuple[Distilled, ...]:
    return tuple(summarise(entry, sentences) for entry in entries)


def _last_line_read(lines: list[str], first: int, last: int) -> int:
    size = 0
    for number in range(first, last + 1):
        size += len(lines[number])
        if size > LONGEST_READ:
            return number
    return last
