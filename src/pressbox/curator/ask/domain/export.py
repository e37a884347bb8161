"""A conversation as Markdown, to keep or to pass on."""

from pressbox.curator.ask.domain.answers import AnswerView, ConversationView
from pressbox.curator.ask.domain.text import cited
from pressbox.curator.search.domain.retrieval import Passage

_QUOTE = 280


def markdown(conversation: ConversationView) -> str:
    parts = [f"# {_line(conversation.title)}"]
    if conversation.entry_title:
        parts.append(f"Over “{_line(conversation.entry_title)}”")
    parts += [_answer(answer) for answer in conversation.answers]
    return "\n\n".join(parts) + "\n"


def _answer(answer: AnswerView) -> str:
    numbers = cited(answer.text) or range(1, len(answer.passages) + 1)
    sources = [_source(number, answer.passages[number - 1]) for number in numbers if number <= len(answer.passages)]
    said = answer.text or answer.reason
    written = f"\n\n*{answer.model}, {answer.created_at:%Y-%m-%d}*" if answer.model else ""
    body = f"\n\n{said}{written}" if said else ""
    listed = "\n\n" + "\n".join(sources) if sources else ""
    return f"## {_line(answer.question)}{body}{listed}"


def _source(number: int, passage: Passage) -> str:
    quote = _line(passage.text)
    shown = quote if len(quote) <= _QUOTE else quote[: _QUOTE - 1].rstrip() + "…"
    where = f"<{passage.url}>" if passage.url.startswith(("https://", "http://")) else ""
    named = f"{_line(passage.title)} ({_line(passage.feed_title)}, {passage.published_at:%Y-%m-%d})"
    return f"{number}. {named} {where}\n   > {shown}"


def _line(text: str) -> str:
    return " ".join(text.split())
