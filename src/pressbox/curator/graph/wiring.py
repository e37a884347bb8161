"""The graph of entities: where it is kept, who fills it, who reads it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.audiences.contracts import EVERYONE
from pressbox.core.db.database import Database
from pressbox.core.temporal.pinning import upgrading
from pressbox.curator.context.wiring import context_extractor, contexts
from pressbox.curator.graph.activities import Graph, GraphActivities, GraphPages
from pressbox.curator.graph.lightrag import LightRagGraph
from pressbox.curator.graph.neighbours import SqlGraphReader
from pressbox.curator.graph.page_store import SqlGraphPages
from pressbox.curator.graph.service import GraphService, GraphStarter
from pressbox.curator.graph.store import PostgresGraph, SqlGraphQueue
from pressbox.curator.graph.workflow import GlobalGraphUpdateWorkflow, GraphRebuildWorkflow
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.domain import GRAPH_CHANGED
from pressbox.curator.library.slice import Slice, change_topic
from pressbox.curator.models.wiring import paid_model
from pressbox.curator.search.ports import GraphReader
from pressbox.curator.search.wiring import embedder
from pressbox.curator.settings import CuratorSettings, GraphKind, LightRagStorage, policy

if TYPE_CHECKING:
    from fastapi import APIRouter

STORAGES = {LightRagStorage.NETWORKX: "NetworkXStorage", LightRagStorage.MEMGRAPH: "MemgraphStorage"}


def activities(resources: Resources) -> ActivitiesByQueue:
    graph = GraphActivities(
        SqlGraphQueue(resources.database),
        build_graph(resources),
        contexts(resources),
        context_extractor(resources),
    )
    return {
        QUEUE: (
            graph.get_entries_for_graph_update,
            graph.mark_entries_graph_added,
            graph.reset_global_graph,
            graph.swap_global_graph,
            graph.prune_global_graph,
        ),
        HEAVY_QUEUE: (graph.add_to_global_graph_bulk, graph.fetch_and_add_to_graph_bulk),
    }


def build_graph(resources: Resources) -> Graph:
    """The one of the settings."""
    settings, own = resources.settings, PostgresGraph(resources.database)
    curator = settings.group(CuratorSettings)
    if curator.graph is GraphKind.POSTGRES:
        return own
    folder = curator.lightrag_path or settings.home / "lightrag"
    storage = STORAGES[curator.lightrag_storage]
    return LightRagGraph(folder, own, paid_model(resources), embedder(curator), storage)


def graph_service(resources: Resources) -> GraphService:
    starter = GraphStarter(resources.temporal, QUEUE, policy(resources.settings))
    return GraphService(SqlGraphPages(resources.database), starter)


def graph_reader(resources: Resources) -> GraphReader:
    """For asking and research."""
    return SqlGraphReader(resources.database)


def graph_store(database: Database) -> tuple[Graph, GraphPages, GraphReader]:
    """To write and to read in this database: benchmarks measure both."""
    return PostgresGraph(database), SqlGraphPages(database), SqlGraphReader(database)


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.graph import pages

    return pages.api, pages.router


SLICE = Slice(
    workflows=(upgrading(GlobalGraphUpdateWorkflow), upgrading(GraphRebuildWorkflow)),
    activities=activities,
    topics=(change_topic(GRAPH_CHANGED, EVERYONE),),
    routers=routers,
)
