"""Team names: from Wikidata on loopback, whose outage is never "no names", and from the list in the package."""

from collections.abc import AsyncIterator

import pytest

from pressbox.core.config import HttpSettings, Settings, WebSettings
from pressbox.core.errors import PressboxError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.wikidata import WikidataMood, WikidataSite, WikidataTeam
from pressbox.footy.adapters.aliases.club_list import ClubList
from pressbox.footy.adapters.aliases.wikidata import Wikidata
from pressbox.footy.domain.errors import SourceBusyError, SourceError, SourceRefusedError
from pressbox.footy.ports.storage import Aliases, TeamName
from pressbox.footy.settings import FootySettings
from pressbox.footy.wiring import alias_source

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
    WikidataTeam(id="Q100", names={"en": ["Inter Miami CF", "Inter Miami"]}, country="United States"),
    WikidataTeam(id="Q631", names={"en": ["Inter Milan", "Inter", "Internazionale"]}, country="Italy"),
    WikidataTeam(id="Q101", names={"en": ["Barcelona S.C."], "es": ["Barcelona SC", "BSC"]}, country="Ecuador"),
    WikidataTeam(id="Q7156", names={"en": ["FC Barcelona", "Barça", "FCB"]}, country="Spain"),
    WikidataTeam(id="Q9616", names={"en": ["Chelsea F.C.", "CFC"]}, country="United Kingdom"),
    WikidataTeam(
        id="Q1073127",
        names={"en": ["Chelsea F.C. Women", "CFCW"]},
        country="United Kingdom",
        kind="women's association football team",
    ),
    WikidataTeam(id="Q43310", names={"en": ["Germany men's national football team", "DFB-Elf"]}, country="Germany"),
    WikidataTeam(id="Q104770", names={"en": ["1. FC Köln", "FC Cologne"], "fr": ["Cologne"]}, country="Germany"),
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


@pytest.mark.parametrize(
    ("team", "expected", "others"),
    [
        (TeamName(505, "Inter", "Italy"), {"Internazionale"}, {"Inter Miami"}),
        (TeamName(505, "Inter"), {"Internazionale"}, {"Inter Miami"}),
        (TeamName(9568, "Inter Miami", "USA"), {"Inter Miami"}, {"Internazionale"}),
        (TeamName(529, "Barcelona", "Spain"), {"Barça", "FCB"}, {"BSC"}),
        (TeamName(1152, "Barcelona SC", "Ecuador"), {"BSC"}, {"Barça", "FCB"}),
        (TeamName(1, "Chelsea W", "England"), {"Chelsea", "CFCW"}, {"CFC"}),
        (TeamName(49, "Chelsea", "England"), {"Chelsea", "CFC"}, {"CFCW"}),
        (TeamName(2, "Liverpool W", "England"), {"Liverpool Ladies"}, {"LFC"}),
        (TeamName(25, "Germany", "World"), {"DFB-Elf", "Deutschland", "Alemania"}, set()),
    ],
)
async def test_country_and_gender_decide_between_namesakes(
    wikidata: Wikidata, team: TeamName, expected: set[str], others: set[str]
) -> None:
    names = set((await wikidata.find_aliases(team)).names)
    assert expected <= names
    assert not names & others


async def test_women_without_an_entry_of_their_own_have_the_names_of_their_club(wikidata: Wikidata) -> None:
    assert "FCB" in (await wikidata.find_aliases(TeamName(3, "Barcelona W", "Spain"))).names


@pytest.mark.parametrize(
    ("contact", "public_url", "answered"),
    [
        ("press@example.org", None, True),
        (None, "https://press.example.org", True),
        (None, None, False),
    ],
)
async def test_wikidata_is_told_whom_to_write_to(
    site: WikidataSite, contact: str | None, public_url: str | None, answered: bool
) -> None:
    site.mood = WikidataMood.NAMELESS
    allowed = HttpSettings(allow=(f"127.0.0.1:{site.port}",), contact=contact)
    settings = Settings(http=allowed, web=WebSettings(public_url=public_url)).with_group(
        FootySettings(wikidata_url=site.url, wikidata_query_url=site.query_url)
    )
    async with GuardedClient(settings.http) as http:
        asking = alias_source(settings, http).find_aliases(LIVERPOOL)
        if answered:
            assert "LFC" in (await asking).names
        else:
            with pytest.raises(SourceRefusedError):
                await asking


async def test_an_unknown_team_has_no_names_and_the_source_says_so(wikidata: Wikidata) -> None:
    assert await wikidata.find_aliases(TeamName(1, "Nowhere Wanderers")) == Aliases((), "wikidata")


@pytest.mark.parametrize("part", ["search", "query"])
@pytest.mark.parametrize("kind", [Kind.FAILING, Kind.RESET, Kind.BUSY])
async def test_an_outage_is_never_no_names(site: WikidataSite, wikidata: Wikidata, part: str, kind: Kind) -> None:
    site.tell(part, kind)
    with pytest.raises(TransientError, match=r"^wikidata: "):
        await wikidata.find_aliases(LIVERPOOL)


@pytest.mark.parametrize(
    ("mood", "error", "words"),
    [
        (WikidataMood.BROKEN, SourceError, "cirrussearch-backend-error"),
        (WikidataMood.LAGGED, SourceBusyError, "maxlag"),
        (WikidataMood.HTML, SourceError, "page instead of data"),
        (WikidataMood.LIMITED, SourceBusyError, "pause of 9 s"),
        (WikidataMood.HALF, SourceError, "incomplete"),
        (WikidataMood.NAMELESS, SourceRefusedError, "contact in the settings"),
    ],
)
async def test_each_refusal_is_an_error_and_never_a_team_without_names(
    site: WikidataSite, wikidata: Wikidata, mood: WikidataMood, error: type[PressboxError], words: str
) -> None:
    site.mood = mood
    with pytest.raises(error, match=f"^wikidata: .*{words}"):
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
        (TeamName(1, "Chelsea W", "England"), {"Chelsea", "Chelsea Women"}),
        (TeamName(25, "Germany", "World"), {"Deutschland", "Alemania", "Allemagne", "Germania"}),
        (TeamName(26, "Scotland"), {"Scotland", "Schottland", "Escocia"}),
        (TeamName(27, "Korea Republic"), {"South Korea", "KOR"}),
        (TeamName(76, "Swansea", "England"), {"Swansea City"}),
        (TeamName(192, "1. FC Köln", "Germany"), {"Effzeh", "Köln"}),
        (TeamName(172, "VfB Stuttgart", "Germany"), {"VfB", "Stuttgart"}),
        (TeamName(81, "Marseille", "France"), {"OM", "Marseille"}),
        (TeamName(1063, "Saint Etienne", "France"), {"ASSE", "Saint Etienne"}),
        (TeamName(228, "Sporting CP", "Portugal"), {"Sporting", "SCP"}),
        (TeamName(435, "River Plate", "Argentina"), {"River", "River Plate"}),
        (TeamName(451, "Boca Juniors", "Argentina"), {"Boca", "Xeneize"}),
        (TeamName(206, "Heracles", "Netherlands"), {"Heracles Almelo"}),
        (TeamName(197, "PSV Eindhoven", "Netherlands"), {"PSV", "Eindhoven"}),
        (TeamName(645, "Galatasaray", "Turkey"), {"GS", "Cimbom"}),
        (TeamName(611, "Fenerbahçe", "Turkey"), {"Fener", "FB"}),
        (TeamName(1062, "Atletico-MG", "Brazil"), {"Galo", "Atlético Mineiro"}),
        (TeamName(2287, "Club America", "Mexico"), {"America", "Águilas"}),
        (TeamName(9568, "Inter Miami", "USA"), {"Inter Miami", "Miami"}),
        (TeamName(1601, "Toronto FC", "USA"), {"Toronto", "TFC"}),
        (TeamName(327, "Bodo/Glimt", "Norway"), {"Glimt", "Bodø"}),
    ],
)
async def test_the_list_in_the_package_knows_the_followed_leagues(team: TeamName, expected: set[str]) -> None:
    aliases = await ClubList().find_aliases(team)
    assert expected <= set(aliases.names)
    assert aliases.source == "club list"


async def test_namesakes_are_told_apart_by_country() -> None:
    russian = await ClubList().find_aliases(TeamName(1, "Arsenal", "Russia"))
    assert "Gunners" not in russian.names
    for country in ("Netherlands", ""):
        dutch = await ClubList().find_aliases(TeamName(206, "Heracles", country))
        assert "Heracles Almelo" in dutch.names
        assert not [name for name in dutch.names if "Thessaloniki" in name]


@pytest.mark.parametrize(
    "team",
    [
        TeamName(1, "SC Villa", "Uganda"),
        TeamName(1, "SC Villa"),
        TeamName(1152, "Barcelona SC", "Ecuador"),
        TeamName(1152, "Barcelona SC"),
        TeamName(2350, "Liverpool", "Uruguay"),
        TeamName(1, "River Plate", "Uruguay"),
    ],
)
async def test_a_namesake_is_not_taken_for_the_club_that_the_list_has(team: TeamName) -> None:
    assert (await ClubList().find_aliases(team)).names == ()


@pytest.mark.parametrize(
    ("team", "own", "of_the_first_team"),
    [
        (TeamName(1, "Chelsea W", "England"), {"Chelsea", "Chelsea Women", "CFCW"}, {"CFC"}),
        (TeamName(1, "Barcelona W", "Spain"), {"Barcelona", "Barça Femení", "Barcelona Women"}, {"FCB"}),
        (TeamName(1, "Arsenal U21", "England"), {"Arsenal", "Arsenal U21"}, {"Gunners", "Gooners"}),
        (TeamName(1, "Germany U21"), {"Germany U21", "Deutschland"}, {"Die Mannschaft"}),
        (TeamName(1, "USA W"), {"USWNT", "USA Women"}, {"USMNT"}),
    ],
)
async def test_women_and_youth_have_names_of_their_own(
    team: TeamName, own: set[str], of_the_first_team: set[str]
) -> None:
    names = set((await ClubList().find_aliases(team)).names)
    assert own <= names
    assert not of_the_first_team & names
    assert not [name for name in names if name.endswith(" W")], "nobody types the mark of football data"


async def test_what_everybody_uses_is_added_to_the_names_of_wikidata(wikidata: Wikidata) -> None:
    names = (await wikidata.find_aliases(TeamName(192, "1. FC Köln", "Germany"))).names
    assert {"1. FC Köln", "Effzeh", "Cologne"} <= set(names)
    assert "Barcelona Women" in (await wikidata.find_aliases(TeamName(3, "Barcelona W", "Spain"))).names


async def test_the_list_knows_that_it_does_not_know() -> None:
    assert await ClubList().find_aliases(TeamName(1, "Nowhere Wanderers")) == Aliases((), "club list")
