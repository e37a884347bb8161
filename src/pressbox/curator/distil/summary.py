"""A summary out of the text's own sentences. Pure CPU work, run in the parser pool."""

import re
from collections.abc import Sequence

from pressbox.curator.library.domain.entries import EXTRACTIVE, Distilled, ToDistil
from pressbox.curator.text.key_sentences import choose_sentences
from pressbox.curator.text.languages import detect_language
from pressbox.curator.text.lines import find_main_lines, is_boilerplate, split_lines
from pressbox.curator.text.sentences import is_cjk, split_sentences

_FOOTNOTE = re.compile(r"\[\d{1,3}\]")
NAME = EXTRACTIVE
VERSION = "1"
# What matters is said before; a book is not read to its end for four sentences.
LOOKED_AT = 40_000


def summarise(entry: ToDistil, sentences: int) -> Distilled:
    """The summary is empty when the text has no whole sentence."""
    lines = split_lines(entry.text)
    first, last = find_main_lines(lines)
    language = detect_language(entry.text) or entry.language.split("-")[0].lower()
    looked_at = _until(lines, first, last)
    shown = ["" if is_boilerplate(line) else line for line in lines[: looked_at + 1]]
    chosen = choose_sentences(split_sentences(shown, first, looked_at, language), entry.title, language, sentences)
    between = "" if chosen and is_cjk(chosen[0].text) else " "
    return Distilled(
        entry_id=entry.entry_id,
        summary=between.join(_FOOTNOTE.sub("", sentence.text) for sentence in chosen),
        main_content_start_line=first,
        main_content_end_line=last,
        language=language,
        model=NAME,
        prompt_version=VERSION,
        content_hash=entry.content_hash,
    )


def summarise_all(entries: Sequence[ToDistil], sentences: int) -> tuple[Distilled, ...]:
    return tuple(summarise(entry, sentences) for entry in entries)


def _until(lines: list[str], first: int, last: int) -> int:
    size = 0
    for number in range(first, last + 1):
        size += len(lines[number])
        if size > LOOKED_AT:
            return number
    return last
