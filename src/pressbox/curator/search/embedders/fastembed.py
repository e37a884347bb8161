"""A model of the reader's own choice through the package fastembed, from local files: nothing is downloaded."""

import asyncio
import threading
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

from pressbox.core.errors import ConfigurationError
from pressbox.core.logs import get_logger
from pressbox.curator.search.embedders.texts import beginning

log = get_logger(__name__)

NOT_INSTALLED = (
    "PRESSBOX_CURATOR_EMBEDDER=fastembed needs a further package. Install it with `pip install 'pressbox[fastembed]'`, "
    "or leave the setting away to use the bundled model."
)
NO_FOLDER = (
    "PRESSBOX_CURATOR_EMBEDDER=fastembed needs PRESSBOX_CURATOR_EMBEDDING_PATH, the folder with the files of the model "
    "{model}. Pressbox does not download models."
)


class Vector(Protocol):
    def tolist(self) -> list[float]: ...


class Model(Protocol):
    """What we use of fastembed's TextEmbedding."""

    def embed(self, documents: list[str], batch_size: int = 256) -> Iterable[Vector]: ...


class FastEmbedEmbedder:
    """Wrong settings are said at the first use and not at the start: a reader without related entries still reads."""

    def __init__(self, model: str, path: Path | None) -> None:
        self._model = model
        self._path = path
        # A thread whose activity was cancelled may still be at work.
        self._turn = threading.Lock()
        self._loaded: Model | None = None

    @property
    def model(self) -> str:
        return self._model

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if not texts:
            return ()
        return await asyncio.to_thread(self._embed, [beginning(text) for text in texts])

    def _embed(self, texts: list[str]) -> Sequence[Sequence[float]]:
        with self._turn:
            if self._loaded is None:
                self._loaded = self._load()
                log.info("embedder_loaded", msg="The embedding model is in memory", model=self._model)
            return [vector.tolist() for vector in self._loaded.embed(texts, batch_size=8)]

    def _load(self) -> Model:
        if self._path is None or not self._path.is_dir():
            raise ConfigurationError(NO_FOLDER.format(model=self._model))
        try:
            package = import_module("fastembed")
        except ImportError as error:
            raise ConfigurationError(NOT_INSTALLED) from error
        try:
            model: Model = package.TextEmbedding(
                model_name=self._model, specific_model_path=str(self._path), local_files_only=True, threads=1
            )
        # onnxruntime has errors of its own for files that are missing or no model; all of them mean the same here.
        except Exception as error:
            raise ConfigurationError(
                f"The model {self._model} cannot be loaded from {self._path}: {error}. Check "
                "PRESSBOX_CURATOR_EMBEDDING_MODEL and PRESSBOX_CURATOR_EMBEDDING_PATH."
            ) from error
        return model
