"""Starts distillation on demand."""

import secrets
from collections.abc import Sequence

from pressbox.curator.distil.contracts import (
    CONTENT_DISTILLATION,
    DISTIL_LEFTOVERS_WORKFLOW,
    ContentDistillationInput,
    distil_workflow_id,
)
from pressbox.curator.library.starter import Starter


class DistilStarter(Starter):
    async def distil(self, entry_ids: Sequence[int]) -> str:
        """Distil these entries, or everything that is not distilled yet."""
        input = ContentDistillationInput(entry_ids=tuple(entry_ids), policy=self._policy)
        workflow_id = distil_workflow_id(secrets.token_hex(4), 1) if entry_ids else DISTIL_LEFTOVERS_WORKFLOW
        return await self.start(CONTENT_DISTILLATION, input, workflow_id)
