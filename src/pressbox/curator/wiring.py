"""From the process's resources to the activities and use cases of the curator: the whole of it, part by part."""

from pressbox.core.app import Resources
from pressbox.curator.apps import wiring as own_apps
from pressbox.curator.ask import wiring as asking
from pressbox.curator.cards import wiring as enriching
from pressbox.curator.evaluate import wiring as evaluating
from pressbox.curator.feeds.discovery import FeedDiscovery
from pressbox.curator.feeds.parser import FeedParser
from pressbox.curator.graph import wiring as graph
from pressbox.curator.models.store import SqlCosts, SqlModelLedger
from pressbox.curator.operations.service import WorkService
from pressbox.curator.operations.starter import workflows
from pressbox.curator.reading.label_store import SqlCategories, SqlLabels
from pressbox.curator.reading.service import ReadingService
from pressbox.curator.reading.state_store import SqlReadingStates
from pressbox.curator.reading.states import StateService
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.research import wiring as researching
from pressbox.curator.search.wiring import embedder, search_reader
from pressbox.curator.service import Curator
from pressbox.curator.settings import CuratorSettings, policy
from pressbox.curator.sources.outlines import OutlineService
from pressbox.curator.sources.service import SourceService
from pressbox.curator.sources.subscription_store import SqlSubscriptions
from pressbox.curator.translate import wiring as translating


def service(resources: Resources) -> Curator:
    """All use cases, as pages, REST and commands get them."""
    settings, database, objects = resources.settings, resources.database, resources.objects
    rules, starter, lists = policy(settings), workflows(resources), SqlReadingLists(database)
    subscriptions = SqlSubscriptions(database)
    discovery = FeedDiscovery(resources.http, FeedParser(), rules.feed_bytes)
    sources = SourceService(subscriptions, SqlCategories(database), discovery, starter)
    states = StateService(SqlReadingStates(database), SqlLabels(database))
    reading = ReadingService(lists, search_reader(resources), embedder(settings.group(CuratorSettings)).model)
    return Curator(
        sources=sources,
        outlines=OutlineService(subscriptions, objects, starter),
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
