"""LightRAG itself: imported by the first who needs it, without its ways of installing and configuring things."""

import asyncio
import fcntl
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pressbox.core.errors import ConfigurationError, TransientError

NOT_INSTALLED = "The graph lightrag is an extra: install pressbox[lightrag], or set PRESSBOX_CURATOR_GRAPH=postgres."
BUSY = "Another process writes LightRAG's folder."
# One writer at a time in this process; the file keeps others out.
_HERE = asyncio.Lock()


@asynccontextmanager
async def exclusive_writer(folder: Path) -> AsyncIterator[None]:
    """LightRAG's files have one writer. Who comes second comes again later."""
    async with _HERE:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        with (folder / "writer.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise TransientError(BUSY) from error
            yield


class _Characters:
    """Tokens as LightRAG cuts texts by them, about four characters each: a real tokeniser would be downloaded."""

    SIZE = 4

    def encode(self, content: str) -> list[int]:
        # Each token is its characters as one number, so that decoding gives back the same text.
        pieces = (content[begin : begin + self.SIZE] for begin in range(0, len(content), self.SIZE))
        return [int.from_bytes(b"\x01" + piece.encode("utf-32-be", "replace"), "big") for piece in pieces]

    def decode(self, tokens: list[int]) -> str:
        raw = (token.to_bytes((token.bit_length() + 7) // 8, "big")[1:] for token in tokens)
        return b"".join(raw).decode("utf-32-be")


@dataclass(frozen=True)
class Library:
    """What the adapter uses of LightRAG and NumPy. Nothing here is typed by them."""

    lightrag: Any
    utils: Any
    base: Any
    shared: Any
    numpy: Any
    version: str

    def make(
        self,
        folder: Path,
        workspace: str,
        storage: str,
        *,
        ask: Callable[..., Any],
        embed: Callable[..., Any],
        dimensions: int,
        model: str,
        embedding_model: str,
        longest_input: int,
    ) -> Any:
        """Every part that it would fetch or read from somewhere else is given: tokeniser, model, vectors."""

        # LightRAG copies its configuration deeply, and with a method all that hangs on it; a function stays itself.
        async def asked(*words: Any, **options: Any) -> Any:
            return await ask(*words, **options)

        async def embedded(texts: list[str]) -> Any:
            return await embed(texts)

        try:
            return self.lightrag.LightRAG(
                working_dir=str(folder),
                workspace=workspace,
                graph_storage=storage,
                llm_model_func=asked,
                llm_model_name=model,
                embedding_func=self.utils.EmbeddingFunc(
                    embedding_dim=dimensions, func=embedded, max_token_size=longest_input, model_name=embedding_model
                ),
                tokenizer=self.utils.Tokenizer("characters", _Characters()),
                # A second look costs a second call, and the ledger would take it for the same.
                entity_extract_max_gleaning=0,
            )
        except (ImportError, ValueError) as error:
            raise ConfigurationError(f"LightRAG cannot use its storage {storage}: {error}") from error

    def forget(self) -> None:
        self.shared.finalize_share_data()

    def is_processed(self, status: Any) -> bool:
        known = status.get("status") if isinstance(status, dict) else getattr(status, "status", None)
        return bool(known == self.base.DocStatus.PROCESSED)

    def all_statuses(self) -> list[Any]:
        return list(self.base.DocStatus)

    def matrix(self, vectors: Sequence[Sequence[float]]) -> Any:
        return self.numpy.array(vectors, dtype=self.numpy.float32)


@cache
def library() -> Library:
    """Takes seconds: call it in a thread. It must not install packages, nor read a file of settings that lies about."""
    try:
        installer = import_module("pipmaster")
        dotenv = import_module("dotenv")
    except ImportError as error:
        raise ConfigurationError(NOT_INSTALLED) from error
    for name in dir(installer):
        if name.startswith(("install", "ensure", "uninstall")):
            setattr(installer, name, _refuse)
    read, dotenv.load_dotenv = dotenv.load_dotenv, _read_nothing  # type: ignore[attr-defined] # a module, by name
    try:
        lightrag = import_module("lightrag")
        utils, base = import_module("lightrag.utils"), import_module("lightrag.base")
        shared = import_module("lightrag.kg.shared_storage")
    except ImportError as error:
        raise ConfigurationError(NOT_INSTALLED) from error
    finally:
        dotenv.load_dotenv = read  # type: ignore[attr-defined]
    # What fails is read from the state of each text, and told by us; its own lines quote whole texts.
    logging.getLogger("lightrag").setLevel(logging.CRITICAL + 1)
    return Library(lightrag, utils, base, shared, import_module("numpy"), f"lightrag-{lightrag.__version__}")


def _refuse(*_: object, **__: object) -> None:
    raise ConfigurationError("LightRAG wants a package that is not installed. Nothing is installed while it runs.")


def _read_nothing(*_: object, **__: object) -> bool:
    return False
