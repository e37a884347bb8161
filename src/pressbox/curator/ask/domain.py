"""Questions, answers and conversations, and an answer's text: its citations, paragraphs, lists and emphasis.

Nothing here is HTML: pages draw the pieces and escape them. Markup that is not understood stays as text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from pressbox.curator.search.domain.passages import Passage

LONGEST_TITLE = 80


class AnswerState(StrEnum):
    SEARCHING = "searching"
    WRITING = "writing"
    WAITING = "waiting"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def is_open(self) -> bool:
        """The answer is being worked on, or will be."""
        return self in OPEN


OPEN = frozenset({AnswerState.SEARCHING, AnswerState.WRITING, AnswerState.WAITING})


class AnswerMethod(StrEnum):
    """PASSAGES: no model is configured, or nothing was found; the passages are the answer."""

    MODEL = "llm"
    PASSAGES = "passages"


@dataclass(frozen=True)
class Turn:
    """A question of the conversation with what was answered."""

    question: str
    answer: str


@dataclass(frozen=True)
class AnswerTask:
    """What it takes to answer. `turns` are the finished questions before, oldest first."""

    answer_id: int
    user_id: int
    entry_id: int | None
    question: str
    state: AnswerState
    passages: tuple[Passage, ...] = ()
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class AnswerView:
    id: int
    conversation_id: int
    question: str
    state: AnswerState
    method: Annotated[AnswerMethod | None, Field(description="llm, or passages when these are the answer.")]
    model: str
    text: Annotated[str, Field(description="With [n] for the passages it is based on, counted from one.")]
    passages: Sequence[Passage]
    reason: Annotated[str, Field(description="Why it waits or failed.")]
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class ConversationLine:
    """One line of the history."""

    id: int
    title: str
    entry_id: int | None
    entry_title: str
    updated_at: datetime
    questions: int


@dataclass(frozen=True)
class ConversationView(ConversationLine):
    answers: Sequence[AnswerView]


@dataclass(frozen=True)
class Ending:
    """How an answer ended."""

    state: AnswerState
    method: AnswerMethod | None = None
    text: str = ""
    reason: str = ""
    model: str = ""
    prompt_version: str = ""
    trace_id: str = ""


def title_of(question: str) -> str:
    """The name of a conversation until somebody renames it: its first question."""
    said = " ".join(question.split())
    return said if len(said) <= LONGEST_TITLE else said[: LONGEST_TITLE - 1].rstrip() + "…"


LONGEST_ANSWER = 12_000

_CITATION = re.compile(
    # From the first blank on: from every blank it would be a square.
    r"(?<!\s)\s*+[\[【]\s*+(?:passage\s++)?+(\d{1,3}+(?:\s*+[,;–-]\s*+\d{1,3}+)*+)\s*+[\]】](?!\()",
    re.IGNORECASE,
)
_APART = re.compile(r"(\[\d+\]) (?=\[\d)")
# While it is being written, a text can end anywhere.
_HALF = re.compile(r"(?<!\s)\s*+\[\d*+$")
_NUMBER = re.compile(r"\d+")
_LINK = re.compile(r"!?\[([^\[\]]{1,200})\]\((?:[^()\s]|\([^()\s]*\))*\)")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?=\S)")
_HEADING = re.compile(r"^\s*#{1,6}\s+")
_INLINE = re.compile(
    r"\[(?P<cite>\d{1,3})\]|\*\*(?P<strong>[^*\n]{1,300})\*\*|(?<![\w*])\*(?P<emphasis>[^*\s][^*\n]{0,300}?)\*(?![\w*])"
    r"|`(?P<code>[^`\n]{1,300})`"
)


class PieceKind(StrEnum):
    TEXT = "text"
    STRONG = "strong"
    EMPHASIS = "emphasis"
    CODE = "code"
    CITATION = "citation"


@dataclass(frozen=True)
class Piece:
    kind: PieceKind
    text: str

    @property
    def number(self) -> int:
        """Of a citation: which passage, counted from one."""
        return int(self.text)


class BlockKind(StrEnum):
    PARAGRAPH = "paragraph"
    LIST = "list"


@dataclass(frozen=True)
class Block:
    """A paragraph has one line of pieces, a list one for each item."""

    kind: BlockKind
    lines: tuple[tuple[Piece, ...], ...]


def checked(text: str, passages: int) -> str:
    """The answer with citations in one form, [n]; numbers of passages that do not exist are dropped."""
    bare = _LINK.sub(r"\1", "".join(one for one in text if one.isprintable() or one in "\n\t"))
    shown = _CITATION.sub(lambda found: _keep_existing(found[1], passages), bare[:LONGEST_ANSWER])
    return _HALF.sub("", _APART.sub(r"\1", shown)).strip()


def cited(text: str) -> tuple[int, ...]:
    """The numbers that a checked answer cites, in order, each once."""
    return tuple(dict.fromkeys(int(found["cite"]) for found in _INLINE.finditer(text) if found["cite"]))


def blocks(text: str) -> Sequence[Block]:
    """A checked answer for a page."""
    made: list[Block] = []
    for part in re.split(r"\n\s*\n", text.strip()):
        for is_list, lines in _runs(part.split("\n")):
            if is_list:
                items = tuple(tuple(pieces(_ITEM.sub("", line))) for line in lines)
                made.append(Block(BlockKind.LIST, items))
            else:
                said = " ".join(_HEADING.sub("", line).strip() for line in lines).strip()
                if said:
                    made.append(Block(BlockKind.PARAGRAPH, (tuple(pieces(said)),)))
    return made


def pieces(line: str) -> Iterator[Piece]:
    at = 0
    for found in _INLINE.finditer(line):
        # A number follows its statement without a space.
        before = line[at : found.start()].rstrip() if found["cite"] else line[at : found.start()]
        if before:
            yield Piece(PieceKind.TEXT, before)
        kind = {"cite": PieceKind.CITATION}.get(found.lastgroup or "") or PieceKind(found.lastgroup or "text")
        yield Piece(kind, found[found.lastgroup or 0])
        at = found.end()
    if at < len(line):
        yield Piece(PieceKind.TEXT, line[at:])


def _keep_existing(listed: str, passages: int) -> str:
    numbers = [int(one) for one in _NUMBER.findall(listed)]
    if len(numbers) == 2 and re.search(r"[–-]", listed):
        numbers = list(range(numbers[0], min(numbers[1], passages) + 1))
    kept = dict.fromkeys(number for number in numbers if 1 <= number <= passages)
    return "".join(f" [{number}]" if not place else f"[{number}]" for place, number in enumerate(kept))


def _runs(lines: Sequence[str]) -> Iterator[tuple[bool, list[str]]]:
    """Lines of one kind that follow each other."""
    held: list[str] = []
    was_list = False
    for line in lines:
        is_list = _ITEM.match(line) is not None
        if held and is_list != was_list:
            yield was_list, held
            held = []
        was_list = is_list
        held.append(line)
    if held:
        yield was_list, held


_QUOTE = 280
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>#|!~"})
_IN_ADDRESS = str.maketrans({character: f"%{ord(character):02X}" for character in "()<>[]\\\"'` \t\r\n"})
_FORMS = {PieceKind.STRONG: "**{}**", PieceKind.EMPHASIS: "*{}*", PieceKind.CITATION: "[{}]"}


def escape_markdown(text: str) -> str:
    """One line that Markdown shows as it is: no HTML, no picture, no link of its own."""
    return _line(text).translate(_MARKDOWN)


def markdown_address(url: str) -> str:
    """The address as it may stand in a link; empty when it does not lead to the web."""
    return url.translate(_IN_ADDRESS) if url.startswith(("https://", "http://")) else ""


def clean_markdown(text: str) -> str:
    """What a model wrote, with the formatting that pages show and nothing else."""
    return "\n".join(_clean_line(line) for line in text.strip().split("\n"))


def _clean_line(line: str) -> str:
    heading, item = _HEADING.match(line), _ITEM.match(line)
    if heading:
        return f"{heading[0].strip()} {_clean_pieces(line[heading.end() :])}"
    return f"- {_clean_pieces(line[item.end() :])}" if item else _clean_pieces(line.strip())


def _clean_pieces(line: str) -> str:
    made = ""
    for piece in pieces(line):
        apart = " " if piece.kind is PieceKind.CITATION and made and not made.endswith("]") else ""
        # Code shows whatever stands in it, and has no backtick inside.
        shown = f"`{piece.text}`" if piece.kind is PieceKind.CODE else _escape_piece(piece)
        made += apart + shown
    return made


def _escape_piece(piece: Piece) -> str:
    return _FORMS.get(piece.kind, "{}").format(piece.text.translate(_MARKDOWN))


def markdown(conversation: ConversationView) -> str:
    parts = [f"# {escape_markdown(conversation.title)}"]
    if conversation.entry_title:
        parts.append(f"Over “{escape_markdown(conversation.entry_title)}”")
    parts += [_answer(answer) for answer in conversation.answers]
    return "\n\n".join(parts) + "\n"


def _answer(answer: AnswerView) -> str:
    numbers = cited(answer.text) or range(1, len(answer.passages) + 1)
    sources = [_source(number, answer.passages[number - 1]) for number in numbers if number <= len(answer.passages)]
    said = clean_markdown(answer.text or answer.reason)
    written = f"\n\n*{escape_markdown(answer.model)}, {answer.created_at:%Y-%m-%d}*" if answer.model else ""
    body = f"\n\n{said}{written}" if said else ""
    listed = "\n\n" + "\n".join(sources) if sources else ""
    return f"## {escape_markdown(answer.question)}{body}{listed}"


def _source(number: int, passage: Passage) -> str:
    quote = _line(passage.text)
    shown = quote if len(quote) <= _QUOTE else quote[: _QUOTE - 1].rstrip() + "…"
    address = markdown_address(passage.url)
    where = f"<{address}>" if address else ""
    feed = escape_markdown(passage.feed_title)
    named = f"{escape_markdown(passage.title)} ({feed}, {passage.published_at:%Y-%m-%d})"
    return f"{number}. {named} {where}\n   > {escape_markdown(shown)}"


def _line(text: str) -> str:
    return " ".join(text.split())
