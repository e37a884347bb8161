"""Starts translations."""

import secrets
from collections.abc import Sequence

from pressbox.curator.library.starter import Starter
from pressbox.curator.translate.contracts import (
    TRANSLATE_LEFTOVERS_WORKFLOW,
    TRANSLATION,
    Provider,
    TranslationInput,
    translation_workflow_id,
)


class TranslationStarter(Starter):
    async def translate(
        self, entry_ids: Sequence[int], provider: Provider, language: str, *, again: bool = False
    ) -> str:
        input = TranslationInput(
            entry_ids=tuple(entry_ids), provider=provider, target_language=language, again=again, policy=self._policy
        )
        if not entry_ids:
            return await self.start(TRANSLATION, input, TRANSLATE_LEFTOVERS_WORKFLOW)
        # The same entry into two languages are two pieces of work.
        key = f"{entry_ids[0]}-{language}" if len(entry_ids) == 1 else secrets.token_hex(4)
        return await self.start(TRANSLATION, input, translation_workflow_id(key))
