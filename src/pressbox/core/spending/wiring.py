"""The ledger, the till and the budget of an instance."""

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.spending.domain import Budget
from pressbox.core.spending.ledger import SqlClaims, SqlLedger
from pressbox.core.spending.pay_once import PayOnce
from pressbox.core.spending.status import BudgetStatus
from pressbox.core.spending.till import Till


def budget(settings: Settings) -> Budget:
    return Budget(settings.spending.tokens_per_day, settings.spending.cost_per_day)


def till(resources: Resources) -> Till:
    return Till(SqlLedger(resources.database), budget(resources.settings))


def pay_once(resources: Resources) -> PayOnce:
    return PayOnce(SqlLedger(resources.database), SqlClaims(resources.database), till(resources))


def budget_status(resources: Resources) -> BudgetStatus:
    return BudgetStatus(SqlLedger(resources.database), budget(resources.settings))
