"""From the process's resources to the activities and use cases of the curator: the whole of it, part by part."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from pressbox.core.app import Resources
from pressbox.curator.adapters.cost_store import SqlCosts
from pressbox.curator.adapters.feeds.discovery import FeedDiscovery
from pressbox.curator.adapters.feeds.outlines import OpmlOutlines
from pressbox.curator.adapters.feeds.reading import FeedReader
from pressbox.curator.adapters.label_store import SqlCategories, SqlLabels
from pressbox.curator.adapters.ledger_store import SqlModelLedger
from pressbox.curator.adapters.reading_store import SqlReadingLists
from pressbox.curator.adapters.state_store import SqlReadingStates
from pressbox.curator.adapters.subscription_store import SqlSubscriptions
from pressbox.curator.service.curator import Curator
from pressbox.curator.service.outlines import OutlineService
from pressbox.curator.service.reading import ReadingService
from pressbox.curator.service.sources import SourceService
from pressbox.curator.service.states import StateService
from pressbox.curator.service.work import WorkService
from pressbox.curator.wiring import apps as own_apps
from pressbox.curator.wiring import asking, enriching, evaluating, graph, ingesting, researching, translating
from pressbox.curator.wiring.parts import Functions, embedder, policy, search_reader, workflows

# Each gives the activities of its queues.
PARTS = (
    ingesting.activities,
    translating.activities,
    enriching.activities,
    evaluating.activities,
    researching.activities,
    graph.activities,
    asking.activities,
)


def activities(resources: Resources) -> Mapping[str, Functions]:
    merged: dict[str, list[Callable[..., Any]]] = defaultdict(list)
    for part in PARTS:
        for queue, functions in part(resources).items():
            merged[queue].extend(functions)
    return merged


def service(resources: Resources) -> Curator:
    """All use cases, as pages, REST and commands get them."""
    settings, database, objects = resources.settings, resources.database, resources.objects
    rules, starter, lists = policy(settings), workflows(resources), SqlReadingLists(database)
    subscriptions = SqlSubscriptions(database)
    discovery = FeedDiscovery(resources.http, FeedReader(), rules.feed_bytes)
    sources = SourceService(subscriptions, SqlCategories(database), discovery, starter)
    states = StateService(SqlReadingStates(database), SqlLabels(database))
    reading = ReadingService(lists, search_reader(resources), embedder(settings.curator).model)
    return Curator(
        sources=sources,
        outlines=OutlineService(subscriptions, OpmlOutlines(), objects, starter),
        reading=reading,
        enriching=enriching.service(resources),
        translations=translating.service(resources),
        evaluations=evaluating.service(resources),
        states=states,
        research=researching.service(resources),
        graph=graph.service(resources),
        asking=asking.service(resources),
        work=WorkService(
            starter, subscriptions, lists, SqlCosts(database), SqlModelLedger(database), objects, rules.tokens_per_day
        ),
        apps=own_apps.apps(resources),
        views=own_apps.views(resources, reading),
        streams=own_apps.streams(resources, sources, states),
    )
