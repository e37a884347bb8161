"""The key of API-Football, as an administrator sets and tries it on a page."""

from pressbox.core.app import Resources
from pressbox.core.stored_settings.sections import SettingField, SettingsSection, TestReport
from pressbox.footy.adapters.api_football import ApiFootball
from pressbox.footy.adapters.request_budgets import open_budget
from pressbox.footy.settings import FootySettings

KEY = "footy.api_key"


async def ask_account(resources: Resources, _: str) -> TestReport:
    """Ask what the account behind the key may do. That question is not counted."""
    footy = resources.settings.group(FootySettings)
    status = await ApiFootball(resources.http, footy, open_budget(resources.database, footy)).fetch_status()
    return TestReport(
        "The key works: plan %(plan)s, %(used)s of %(most)s requests used today.",
        {"plan": status.plan, "used": _number(status.used), "most": _number(status.day_limit)},
    )


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


FOOTBALL = SettingsSection(
    key="football",
    title="Football data",
    summary="The key of API-Football, from which fixtures, scores and goals come. A free one has 100 requests a day.",
    fields=(
        SettingField(KEY, "API key", hint="From the dashboard at api-football.com, under “Account”.", kind="password"),
    ),
    test=ask_account,
    required=(KEY,),
)
