"""Team names: from Wikidata on loopback, whose outage is never "no names", and from the list in the package."""

from collections.abc import AsyncIterator

import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.errors import TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.wikidata import WikidataSite, WikidataTeam
from pressbox.footy.adapters.aliases.club_list import ClubList
from pressbox.footy.adapters.aliases.wikidata import Wikidata
from pressbox.footy.ports.storage import Aliases, TeamName

LIVERPOOL = TeamName(40, "Liverpool", "England")
TEAMS = (
    WikidataTeam(id="Q2", names={"en": ["Liverpool F.C. Women", "Liverpool Ladies"]}),
    WikidataTeam(
        id="Q1130849",
        names={
            "en": ["Liverpool F.C.", "LFC", "The Reds", "Liverpool Football Club"],
            "de": ["FC Liverpool"],
            "es": ["Liverpool Football Club", "Los Reds"],
        },
    ),
    WikidataTeam(id="Q7", names={"en": ["Everton F.C.", "neighbour of Liverpool", "EFC"]}),
)


@pytest.fixture
async def site() -> AsyncIterator[WikidataSite]:
    async with WikidataSite(TEAMS) as site:
        yield site


@pytest.fixture
async def wikidata(site: WikidataSite) -> AsyncIterator[Wikidata]:
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{site.port}",))) as http:
        yield Wikidata(http, site.url, site.query_url)


async def test_the_first_team_with_that_name_is_asked_for_its_names(wikidata: Wikidata) -> None:
    aliases = await wikidata.find_aliases(LIVERPOOL)
    assert aliases.source == "wikidata"
    assert aliases.names[:2] == ("Liverpool", "LFC")
    assert not {"Liverpool Ladies", "EFC", "The Reds"} & set(aliases.names)


async def test_an_unknown_team_has_no_names_and_the_source_says_so(wikidata: Wikidata) -> None:
    assert await wikidata.find_aliases(TeamName(1, "Nowhere Wanderers")) == Aliases((), "wikidata")


@pytest.mark.parametrize("part", ["search", "query"])
@pytest.mark.parametrize("kind", [Kind.FAILING, Kind.RESET, Kind.BUSY])
async def test_an_outage_is_never_no_names(site: WikidataSite, wikidata: Wikidata, part: str, kind: Kind) -> None:
    site.tell(part, kind)
    with pytest.raises(TransientError, match=r"^wikidata: "):
        await wikidata.find_aliases(LIVERPOOL)


async def test_an_error_in_a_good_answer_and_a_page_of_maintenance_are_outages(
    site: WikidataSite, wikidata: Wikidata
) -> None:
    site.broken = True
    with pytest.raises(TransientError, match="cirrussearch-backend-error"):
        await wikidata.find_aliases(LIVERPOOL)
    site.html = True
    with pytest.raises(TransientError, match="page instead of data"):
        await wikidata.find_aliases(LIVERPOOL)


@pytest.mark.parametrize(
    ("team", "expected"),
    [
        (LIVERPOOL, {"Liverpool", "LFC"}),
        (TeamName(157, "Bayern München", "Germany"), {"Bayern", "FCB", "Bayern Munich"}),
        (TeamName(85, "Paris Saint Germain", "France"), {"PSG", "Paris SG"}),
        (TeamName(2, "France", "World"), {"France", "FRA", "Les Bleus"}),
        (TeamName(505, "Inter", "Italy"), {"Inter", "Internazionale", "Nerazzurri"}),
        (TeamName(42, "Arsenal", "England"), {"Arsenal", "Gunners"}),
    ],
)
async def test_the_list_in_the_package_knows_the_followed_leagues(team: TeamName, expected: set[str]) -> None:
    aliases = await ClubList().find_aliases(team)
    assert expected <= set(aliases.names)
    assert aliases.source == "club list"


async def test_namesakes_are_told_apart_by_country() -> None:
    russian = await ClubList().find_aliases(TeamName(1, "Arsenal", "Russia"))
    assert "Gunners" not in russian.names


async def test_the_list_knows_that_it_does_not_know() -> None:
    assert await ClubList().find_aliases(TeamName(1, "Nowhere Wanderers")) == Aliases((), "club list")
