"""The process in which the offline judge looks: its models take memory, which goes when it ends.

Started by the worker as `python -m pressbox.footy.adapters.judges.child`; ends when the worker closes its input.
"""

import os
import queue
import sys
import threading
from typing import BinaryIO

import cv2

from pressbox.core.children import READY
from pressbox.footy.adapters.judges.looking import UnreadableFrameError, look
from pressbox.footy.adapters.judges.messages import Opinion, Question
from pressbox.footy.adapters.judges.reading import RapidReader, ScorebugReader


def main() -> None:
    # A library that prints must not print into the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    cv2.setNumThreads(1)
    os.nice(5)
    reader = ScorebugReader(RapidReader())
    questions: queue.Queue[list[bytes]] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, questions), daemon=True).start()
    answers.write(READY)
    answers.flush()
    while True:
        answers.write(_opinion(questions.get(), reader).model_dump_json().encode() + b"\n")
        answers.flush()


def _listen(source: BinaryIO, questions: "queue.Queue[list[bytes]]") -> None:
    """In a thread of its own: the worker can end while a frame is being read, and nobody waits for it then."""
    for line in source:
        questions.put([source.read(length) for length in Question.model_validate_json(line).lengths])
    os._exit(0)


def _opinion(frames: list[bytes], reader: ScorebugReader) -> Opinion:
    try:
        return Opinion(judgements=tuple(look(frames, reader)))
    except UnreadableFrameError as error:
        return Opinion(unreadable=str(error))


if __name__ == "__main__":
    main()
