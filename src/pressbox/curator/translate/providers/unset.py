"""The place of a translator that has no key: it says which setting is missing, and work waits for it."""

from collections.abc import Sequence

from pressbox.core.errors import ConfigurationError
from pressbox.curator.translate.domain.article_blocks import Block
from pressbox.curator.translate.domain.segments import Done, Limits
from pressbox.curator.translate.ports import Languages, TranslationSource


class UnsetTranslator:
    model = ""
    limits = Limits(texts=1, characters=1_000_000, size=1_000_000, longest=1_000_000)

    def __init__(self, provider: str, settings: str) -> None:
        self.provider = provider
        self._settings = settings

    async def translate(
        self, blocks: Sequence[Block], languages: Languages, source: TranslationSource
    ) -> Sequence[Done]:
        raise ConfigurationError(f"The translator {self.provider} needs {self._settings}.")
