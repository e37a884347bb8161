"""Builds footy's activities from the resources of a process."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.proxy import GuardedProxy
from pressbox.core.spending.domain import Prices
from pressbox.core.spending.ledger import SqlClaims
from pressbox.core.spending.wiring import pay_once, till
from pressbox.core.temporal.calls import activity_methods
from pressbox.core.temporal.pace import SchedulePace
from pressbox.footy.activities.aliases import AliasActivities
from pressbox.footy.activities.attempts import AttemptActivities
from pressbox.footy.activities.batches import BatchActivities
from pressbox.footy.activities.clip_inspector import ClipInspector
from pressbox.footy.activities.comparison import ComparisonActivities
from pressbox.footy.activities.download import DownloadActivities, ValidationActivities
from pressbox.footy.activities.handing_over import HandOverActivities
from pressbox.footy.activities.ingest import CleanupActivities, IngestActivities
from pressbox.footy.activities.poll import PollActivities
from pressbox.footy.activities.scenes import SceneActivities
from pressbox.footy.activities.search import SearchActivities
from pressbox.footy.activities.upkeep import CanaryActivities, RecheckActivities
from pressbox.footy.activities.upload import UploadActivities
from pressbox.footy.activities.whole_download import FetchActivities, InspectActivities
from pressbox.footy.adapters.aliases.club_list import ClubList
from pressbox.footy.adapters.aliases.wikidata import Wikidata
from pressbox.footy.adapters.api_football import ApiFootball
from pressbox.footy.adapters.candidate_store import SqlCandidates
from pressbox.footy.adapters.clip_store import SqlClips
from pressbox.footy.adapters.comparisons import SqlComparisons
from pressbox.footy.adapters.downloads.downloader import ClipDownloader
from pressbox.footy.adapters.fixture_archive import SqlFixtureArchive
from pressbox.footy.adapters.fixture_imports import SqlFixtureImports
from pressbox.footy.adapters.follows import SqlFollows
from pressbox.footy.adapters.goal_store import SqlGoals
from pressbox.footy.adapters.judges.offline import OfflineJudge
from pressbox.footy.adapters.judges.vision_llm import vision_judge
from pressbox.footy.adapters.media.processes import MediaProcesses
from pressbox.footy.adapters.polls import SqlPolls
from pressbox.footy.adapters.request_budgets import open_budget
from pressbox.footy.adapters.source_health import SqlSourceHealth
from pressbox.footy.adapters.sources.billing import BILLING
from pressbox.footy.adapters.sources.folder import archive_directory
from pressbox.footy.adapters.sources.registry import configured_sources
from pressbox.footy.adapters.sources.x_turns import share_turns
from pressbox.footy.adapters.team_store import SqlTeamStore
from pressbox.footy.adapters.workflows import TemporalWorkflows
from pressbox.footy.domain.match_rule import BETTER, DOCUMENT
from pressbox.footy.ids import CLIPS_QUEUE, MEDIA_QUEUE, QUEUE
from pressbox.footy.ports.outside import AliasSource, FixturesApi, Judge
from pressbox.footy.ports.workflows import Workflows
from pressbox.footy.schedules import monitor_schedule
from pressbox.footy.settings import AliasKind, DuplicateRule, FootySettings, JudgeKind
from pressbox.footy.x.session import open_session

Functions = Sequence[Callable[..., Any]]
NO_KEY = (
    "There is no key for API-Football, so no fixtures are fetched. Set PRESSBOX_FOOTY_API_KEY, or try "
    "`pressbox demo`, which needs none."
)


def activities(resources: Resources) -> Mapping[str, Functions]:
    workflows = TemporalWorkflows(resources.temporal, QUEUE, resources.settings.group(FootySettings).policy)
    footy = resources.settings.group(FootySettings)
    api = ApiFootball(resources.http, footy, open_budget(resources.database, footy))
    plain, clips = clip_activities(resources, workflows)
    return {
        QUEUE: (*polling_activities(resources, api, workflows), *plain),
        CLIPS_QUEUE: clips,
        MEDIA_QUEUE: media_activities(resources, workflows),
    }


def polling_activities(resources: Resources, api: FixturesApi, workflows: Workflows) -> Functions:
    """Activities of Ingest and Monitor. The caller brings the API, so that benchmarks can measure it."""
    database, footy = resources.database, resources.settings.group(FootySettings)
    missing = "" if footy.api_key else NO_KEY
    polls, archive = SqlPolls(database), SqlFixtureArchive(database)
    pace = SchedulePace(resources.temporal, database, monitor_schedule(footy))
    return activity_methods(
        IngestActivities(api, SqlFollows(database, footy.followed), SqlFixtureImports(database), pace, missing),
        CleanupActivities(archive, SqlClips(database), resources.objects),
        PollActivities(api, polls, open_budget(database, footy), pace, missing, footy.poll_every),
        ComparisonActivities(polls, SqlComparisons(database), archive, SqlGoals(database), workflows),
    )


def clip_activities(resources: Resources, workflows: Workflows) -> tuple[Functions, Functions]:
    """Activities of RAG, Twitter, Download, Upload and Upkeep that decode nothing: short ones, and those of clips."""
    settings, database, objects = resources.settings, resources.database, resources.objects
    goals, candidates = SqlGoals(database), SqlCandidates(database)
    footy = settings.group(FootySettings)
    sources = share_turns(configured_sources(footy, resources.http, till(resources)), database, footy)
    videos = media(settings)
    downloader = ClipDownloader(
        resources.http, GuardedProxy(settings.http), archive_directory(footy), open_session(settings), videos.join_sound
    )
    # The canary of a source that bills would cost every hour: its searches for goals tell how it is.
    canaries = [source for source in sources if source.name not in BILLING]
    aliases = AliasActivities(SqlTeamStore(database), alias_source(resources.settings, resources.http))
    search = SearchActivities(goals, candidates, sources, SqlSourceHealth(database), open_budget(database, footy))
    downloads = DownloadActivities(goals, candidates, downloader, videos, objects)
    ending = HandOverActivities(goals, candidates, objects, workflows)
    uploads = UploadActivities(SqlClips(database), candidates, objects)
    canary = CanaryActivities(canaries, SqlSourceHealth(database), open_budget(database, footy))
    return (
        activity_methods(aliases, search, downloads, ending, uploads, canary),
        activity_methods(
            AttemptActivities(search, aliases, ending, workflows), FetchActivities(goals, downloads, ending)
        ),
    )


def media_activities(resources: Resources, workflows: Workflows) -> Functions:
    """Activities that decode or ask a judge."""
    database, objects = resources.database, resources.objects
    goals, clips, decoder = SqlGoals(database), SqlClips(database), media(resources.settings)
    candidates = SqlCandidates(database)
    inspector = ClipInspector(decoder, judge(resources))
    validation = ValidationActivities(goals, candidates, decoder, objects, inspector)
    scenes = SceneActivities(clips, decoder, objects)
    ending = HandOverActivities(goals, candidates, objects, workflows)
    return activity_methods(
        validation,
        scenes,
        InspectActivities(validation, ending),
        BatchActivities(UploadActivities(clips, candidates, objects), scenes, ending),
        RecheckActivities(goals, clips, objects, inspector, workflows),
    )


def media(settings: Settings) -> MediaProcesses:
    footy = settings.group(FootySettings)
    rule = DOCUMENT if footy.duplicates is DuplicateRule.DOCUMENT else BETTER
    return MediaProcesses(footy.media_concurrency, rule=rule)


def judge(resources: Resources) -> Judge:
    settings = resources.settings.group(FootySettings)
    if settings.judge is JudgeKind.OFFLINE:
        return offline_judge()
    if not settings.vision_url or not settings.vision_model:
        raise ConfigurationError(
            "The judge vision-llm needs PRESSBOX_FOOTY_VISION_URL and PRESSBOX_FOOTY_VISION_MODEL. "
            "Set them, or PRESSBOX_FOOTY_JUDGE=offline."
        )
    prices = Prices(settings.vision_price_per_million_in, settings.vision_price_per_million_out)
    endpoint = (settings.vision_url, settings.vision_model, settings.vision_key)
    return vision_judge(*endpoint, pay_once(resources), prices, claims=SqlClaims(resources.database))


def offline_judge() -> OfflineJudge:
    return OfflineJudge()


def alias_source(settings: Settings, http: GuardedClient) -> AliasSource:
    """Wikidata refuses who cannot be written to: the public address stands in for a contact that nobody entered."""
    footy = settings.group(FootySettings)
    if footy.aliases is AliasKind.CLUBS:
        return ClubList()
    contact = settings.http.contact or settings.web.public_url
    introduction = settings.http.model_copy(update={"contact": contact}).introduction
    return Wikidata(http, footy.wikidata_url, footy.wikidata_query_url, introduction=introduction)
