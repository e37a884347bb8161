"""Fuzzes one target: `python -m tests.fuzz feed --seconds 60`, or `--runs 1000`. Ends with 0 when nothing was found."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-untyped]

from tests.fuzz.targets import TARGETS, Target, load_seeds

# Generous, because a busy machine is no finding; an input that hangs is one.
SLOWEST_SECONDS = 120
MOST_MEGABYTES = 2_048


def fuzz(target: Target, bound: str, seed: int, folder: Path) -> None:
    def run(data: bytes) -> None:
        try:
            target.run(data)
        except target.refuses:
            # Refusing is what a parser does with what it cannot read.
            return

    with atheris.instrument_imports(include=["pressbox"]):
        for content in load_seeds(target):
            run(content)
    corpus, words = folder / "corpus", folder / "words"
    corpus.mkdir()
    for number, content in enumerate(load_seeds(target)):
        (corpus / str(number)).write_bytes(content)
    words.write_text("".join(f'"{escape(word)}"\n' for word in target.words))
    options = [
        bound,
        f"-seed={seed}",
        f"-max_len={target.longest}",
        f"-timeout={SLOWEST_SECONDS}",
        f"-rss_limit_mb={MOST_MEGABYTES}",
        f"-artifact_prefix={folder}/",
        *([f"-dict={words}"] if target.words else []),
        "-print_final_stats=1",
        str(corpus),
    ]
    atheris.Setup([sys.argv[0], *options], run)
    # Never returns: it leaves the process when its bound is reached or something is found.
    atheris.Fuzz()


def escape(word: bytes) -> str:
    return "".join(rf"\x{byte:02x}" for byte in word)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=[target.name for target in TARGETS])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, help="how many inputs, instead of how many seconds")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    target = next(target for target in TARGETS if target.name == given.target)
    bound = f"-max_total_time={given.seconds}" if given.runs is None else f"-runs={given.runs}"
    with tempfile.TemporaryDirectory() as folder:
        # The fuzzer leaves its process, so it has one of its own and somebody is there to tidy up.
        child = os.fork()
        if child == 0:
            fuzz(target, bound, given.seed, Path(folder))
        _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
