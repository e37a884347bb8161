"""A process in which strangers' pages and texts are worked on: bounded in memory, and killed when it takes too long.

Started by the worker as `python -m pressbox.curator.parsers.child`; ends when the worker closes its input.
"""

import os
import queue
import resource
import sys
import threading
from datetime import UTC, datetime
from typing import BinaryIO

from pressbox.core.children import READY
from pressbox.core.errors import InvalidInputError, PermanentError
from pressbox.curator.articles.extraction import article_of, feed_text_of
from pressbox.curator.cards.readme import readme_of
from pressbox.curator.context.finder import context_of
from pressbox.curator.context.links import links_of
from pressbox.curator.distil.summary import summarise
from pressbox.curator.parsers.messages import (
    TASK,
    ContextTask,
    ExtractTask,
    FeedTextTask,
    LinksTask,
    Outcome,
    ReadmeTask,
    Task,
)

MOST_MEMORY = 1_500_000_000
TOO_LARGE = "The page takes too much memory to be read."
TOO_DEEP = "The page is nested too deeply to be read."


def main() -> None:
    # A library that prints must not print into the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    tasks: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, tasks), daemon=True).start()
    answers.write(READY)
    answers.flush()
    while True:
        answers.write(done(TASK.validate_json(tasks.get())).model_dump_json().encode() + b"\n")
        answers.flush()


def _listen(source: BinaryIO, tasks: "queue.Queue[bytes]") -> None:
    """In a thread of its own: the worker can end while a page is being read, and nobody waits for it then."""
    for line in source:
        tasks.put(line)
    os._exit(0)


def done(task: Task) -> Outcome:
    try:
        return _done(task)
    except InvalidInputError as error:
        return Outcome(problem=error.message, invalid=True)
    except PermanentError as error:
        return Outcome(problem=error.message)
    except MemoryError:
        return Outcome(problem=TOO_LARGE)
    except RecursionError:
        return Outcome(problem=TOO_DEEP)
    # The libraries raise whatever a page makes them raise; it concerns that page alone, and its kind is told.
    except Exception as error:  # noqa: BLE001
        return Outcome(problem=f"The text could not be worked on ({type(error).__name__}).")


def _done(task: Task) -> Outcome:
    if isinstance(task, ExtractTask):
        return Outcome(article=article_of(task.html, task.url, task.rules, datetime.now(UTC)))
    if isinstance(task, FeedTextTask):
        return Outcome(article=feed_text_of(task.html, task.base_url))
    if isinstance(task, ContextTask):
        return Outcome(context=context_of(task.source))
    if isinstance(task, LinksTask):
        return Outcome(links=links_of(task.html, task.url))
    if isinstance(task, ReadmeTask):
        return Outcome(html=readme_of(task.html, task.page_url, task.file_url))
    return Outcome(distilled=tuple(summarise(entry, task.sentences) for entry in task.entries))


if __name__ == "__main__":
    main()
