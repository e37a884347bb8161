"""A child process that reads video files, so that a hostile one can take down nothing but this process.

Started by the worker as `python -m pressbox.footy.adapters.media.child`; ends when the worker closes its input.
"""

import os
import queue
import resource
import sys
import threading
from typing import BinaryIO

import av
import cv2

from pressbox.footy.adapters.media.decoding import UnusableError
from pressbox.footy.adapters.media.hashing import fingerprint
from pressbox.footy.adapters.media.messages import READY, Answer, Limits, Refusal, Request, Task
from pressbox.footy.adapters.media.pictures import judged_frames, poster
from pressbox.footy.adapters.media.playing import write_playable
from pressbox.footy.adapters.media.probing import probe
from pressbox.footy.domain.fingerprints import pack


def main() -> None:
    limits = Limits.model_validate_json(sys.argv[1])
    # A library that prints must not print into the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    av.logging.set_level(av.logging.PANIC)
    cv2.setNumThreads(1)
    os.nice(5)
    _limit(limits)
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    answers.write(READY)
    answers.flush()
    while True:
        request = Request.model_validate_json(requests.get())
        _allow_processor_time(request.processor_seconds)
        answer, parts = _answered(request)
        answers.write(answer.model_dump_json().encode() + b"\n" + b"".join(parts))
        answers.flush()


def _listen(source: BinaryIO, requests: "queue.Queue[bytes]") -> None:
    """In a thread of its own: the worker can end while a file is being decoded, and nobody waits for it then."""
    for line in source:
        requests.put(line)
    os._exit(0)


def _answered(request: Request) -> tuple[Answer, list[bytes]]:
    try:
        return _done(request)
    except UnusableError as error:
        return Answer(refusal=Refusal.UNUSABLE, message=str(error)), []
    except (MemoryError, av.MemoryError, cv2.error) as error:
        return Answer(refusal=Refusal.TOO_MUCH_MEMORY, message=type(error).__name__), []
    except FileNotFoundError as error:
        return Answer(refusal=Refusal.MISSING, message=str(error)), []
    # A stranger's bytes choose the error; whatever it is, it is an answer about this file and the child goes on.
    except Exception as error:  # noqa: BLE001
        return Answer(refusal=Refusal.FAILED, message=f"{type(error).__name__}: {error}"), []


def _done(request: Request) -> tuple[Answer, list[bytes]]:
    match request.task:
        case Task.PROBE:
            return Answer(probe=probe(request.path)), []
        case Task.PLAYABLE:
            assert request.target is not None
            write_playable(request.path, request.target)
            return Answer(probe=probe(request.target)), []
        case Task.FINGERPRINT:
            parts = [pack(fingerprint(request.path, request.phases))]
        case Task.FRAMES:
            parts = judged_frames(request.path, request.fractions)
        case Task.POSTER:
            parts = [poster(request.path)]
    return Answer(parts=tuple(len(part) for part in parts)), parts


def _limit(limits: Limits) -> None:
    """Counted from what the libraries took already, which differs between machines."""
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    _lower(resource.RLIMIT_AS, taken + limits.memory_bytes)
    _lower(resource.RLIMIT_FSIZE, limits.written_bytes)
    _lower(resource.RLIMIT_CORE, 0)


def _allow_processor_time(seconds: int) -> None:
    """Counted in processor time, so that a busy machine does not make a good file look bad."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime) + 1 + seconds)


def _lower(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


if __name__ == "__main__":
    main()
