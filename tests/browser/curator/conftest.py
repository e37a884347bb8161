"""A reader with nothing in it, to be filled by each test."""

from collections.abc import AsyncIterator

import pytest

from tests.browser.conftest import Site
from tests.fakes.newsstand import Newsstand


@pytest.fixture
async def stand(site: Site) -> AsyncIterator[Newsstand]:
    owner = await site.accounts.open_owner()
    stand = Newsstand(site.resources, owner.user.id)
    await stand.clear()
    yield stand
    await stand.clear()
