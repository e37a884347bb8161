"""Limits per person: exact when two tabs race, forgotten when the work is undone, and each one declared once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import func, update

from pressbox.core.accounts.models import Scope
from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.environment import load_settings
from pressbox.core.errors import ConfigurationError, InvalidInputError
from pressbox.core.quotas.declared import REQUESTS, declared_quotas
from pressbox.core.quotas.quota import (
    DAY,
    Quota,
    QuotaExceededError,
    QuotaSpentError,
    check_limits,
    find_quota,
)
from pressbox.core.quotas.rows import QuotaUseRow
from pressbox.core.quotas.store import QuotaUses, demand, limit_of, list_uses, set_limit
from pressbox.core.web.rates import RequestRates
from pressbox.entry.manifests import APPLICATIONS
from tests.site import PASSWORD, cheap_passwords

PER_DAY = Quota("tries", "Tries", 3, window=DAY)
QUOTAS = declared_quotas(APPLICATIONS)


@pytest.fixture
def accounts(database: Database, settings: Settings) -> AccountService:
    return AccountService(database, settings, passwords=cheap_passwords())


@pytest.fixture
async def person(accounts: AccountService) -> int:
    return (await accounts.add_user("reader@example.org", PASSWORD)).id


@asynccontextmanager
async def limited(database: Database, **limits: int) -> AsyncIterator[Database]:
    """Another process, with limits in its settings."""
    other = Database(database.url.render_as_string(hide_password=False), quotas=limits)
    yield other
    await other.close()


async def test_twenty_tabs_at_once_do_not_get_one_more(database: Database, settings: Settings, person: int) -> None:
    async with limited(database, tokens=5) as process:
        accounts = AccountService(process, settings, passwords=cheap_passwords())
        attempts = [accounts.add_token(person, f"tab {number}", {Scope.READ}) for number in range(20)]
        results = await asyncio.gather(*attempts, return_exceptions=True)
    refused = [result for result in results if isinstance(result, QuotaExceededError)]
    assert len(refused) == 15
    assert len(await accounts.tokens(person)) == 5
    assert "5 is the most one person may have" in refused[0].message


async def test_a_limit_per_day_is_exact_and_begins_again(database: Database, person: int) -> None:
    uses = QuotaUses(database)
    results = await asyncio.gather(*(uses.demand(PER_DAY, person) for _ in range(10)), return_exceptions=True)
    refused = [result for result in results if isinstance(result, QuotaSpentError)]
    assert len(refused) == 7
    assert refused[0].retry_after is not None
    assert refused[0].retry_after <= DAY
    async with database.unit_of_work() as work:
        await work.session.execute(update(QuotaUseRow).values(ends_at=func.now()))
    await uses.demand(PER_DAY, person)


async def test_what_is_refused_or_undone_is_not_counted(database: Database, person: int) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.unit_of_work() as work:
            await demand(work.session, PER_DAY, person)
            raise ZeroDivisionError
    async with database.unit_of_work() as work:
        [use] = await list_uses(work.session, [PER_DAY], person)
    assert (use.used, use.most) == (0, 3)


async def test_one_person_has_the_limit_that_an_administrator_gave(database: Database, person: int) -> None:
    async with limited(database, tries=7) as process, process.unit_of_work() as work:
        assert await limit_of(work.session, PER_DAY, person) == 7, "the settings come before the default"
        await set_limit(work.session, PER_DAY, person, 9)
        assert await limit_of(work.session, PER_DAY, person) == 9
        assert await limit_of(work.session, PER_DAY, person + 1) == 7
        await set_limit(work.session, PER_DAY, person, None)
        assert await limit_of(work.session, PER_DAY, person) == 7
        with pytest.raises(InvalidInputError):
            await set_limit(work.session, PER_DAY, person, -1)


async def test_every_quota_can_be_shown(database: Database, person: int) -> None:
    async with database.unit_of_work() as work:
        uses = await list_uses(work.session, QUOTAS, person)
    assert {use.used for use in uses} == {0, None}
    assert all(use.most > 0 for use in uses)


def test_every_quota_has_one_name_and_one_way_to_be_counted() -> None:
    assert len({quota.key for quota in QUOTAS}) == len(QUOTAS)
    for quota in QUOTAS:
        assert quota.in_memory or (quota.count is None) != (quota.window is None), quota.key
    assert find_quota(QUOTAS, "feeds").default == 2000


def test_every_quota_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
    assert [quota.key for quota in QUOTAS if f"`{quota.key}`" not in text] == []


def test_limits_of_the_settings_are_read_and_checked() -> None:
    settings = load_settings({"PRESSBOX_QUOTAS": "feeds=500, events=20"}, dotenv=None)
    assert settings.quotas == {"feeds": 500, "events": 20}
    check_limits(settings.quotas, QUOTAS)
    with pytest.raises(ConfigurationError, match="no quota fedes"):
        check_limits({"fedes": 3}, QUOTAS)
    with pytest.raises(ConfigurationError, match="PRESSBOX_QUOTAS"):
        load_settings({"PRESSBOX_QUOTAS": "feeds"}, dotenv=None)


def test_requests_fill_up_again_evenly() -> None:
    now = [0.0]
    rates = RequestRates(lambda: now[0])
    assert [rates.take("person 1", 60) for _ in range(60)] == [None] * 60
    rest = rates.take("person 1", 60)
    assert rest is not None
    assert rest.total_seconds() == pytest.approx(1)
    assert rates.take("person 2", 60) is None, "one person's haste is not another's"
    now[0] = 1.0
    assert rates.take("person 1", 60) is None
    assert rates.take("person 1", 60) is not None
    assert REQUESTS.default >= 1000
