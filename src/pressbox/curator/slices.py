"""Every slice of the curator, in the order in which the application lists what they add."""

from pressbox.curator.apps import wiring as apps
from pressbox.curator.ask import wiring as ask
from pressbox.curator.cards import wiring as cards
from pressbox.curator.cleanup import wiring as cleanup
from pressbox.curator.context import wiring as context
from pressbox.curator.costs import wiring as costs
from pressbox.curator.distil import wiring as distil
from pressbox.curator.evaluate import wiring as evaluate
from pressbox.curator.graph import wiring as graph
from pressbox.curator.ingest import wiring as ingest
from pressbox.curator.library.slice import Slice
from pressbox.curator.models import wiring as models
from pressbox.curator.reading import wiring as reading
from pressbox.curator.research import wiring as research
from pressbox.curator.search import wiring as search
from pressbox.curator.sources import wiring as sources
from pressbox.curator.translate import wiring as translate

SLICES: tuple[Slice, ...] = (
    ingest.SLICE,
    distil.SLICE,
    search.SLICE,
    models.SLICE,
    cleanup.SLICE,
    costs.SLICE,
    reading.SLICE,
    sources.SLICE,
    translate.SLICE,
    context.SLICE,
    cards.SLICE,
    graph.SLICE,
    evaluate.SLICE,
    ask.SLICE,
    research.SLICE,
    apps.SLICE,
)
