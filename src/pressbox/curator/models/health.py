"""What the status page says of the token budget."""

from collections.abc import Sequence

from pressbox.core.app import Resources
from pressbox.core.health import HealthState, PartHealth
from pressbox.curator.models.domain import BudgetView
from pressbox.curator.settings import CuratorSettings


async def check_budget(resources: Resources) -> Sequence[PartHealth]:
    """Nothing without a model."""
    from pressbox.curator.models.wiring import cost_service

    if not resources.settings.group(CuratorSettings).model_name:
        return ()
    return (budget_part(await cost_service(resources).budget()),)


def budget_part(budget: BudgetView) -> PartHealth:
    """Nothing is broken when it is used up: it was meant so, and somebody may wonder what everything waits for."""
    used = f"{budget.tokens_today:,} of {budget.tokens_per_day:,} tokens of today are used"
    if not budget.used_up:
        return PartHealth("models", HealthState.OK, f"{used}.")
    detail = f"{used}. What needs a model waits until {budget.resumes_at:%H:%M} UTC and then goes on by itself."
    fix = "Wait, or set PRESSBOX_CURATOR_TOKENS_PER_DAY to more and restart; `/reader/costs` shows what used them."
    return PartHealth("models", HealthState.WARNING, detail, fix)
