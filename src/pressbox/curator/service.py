"""All use cases of the curator, as pages, REST and commands get them: `wiring.service(resources)` makes one."""

from dataclasses import dataclass

from pressbox.curator.apps.service import AppService, ViewService
from pressbox.curator.apps.streams import StreamService
from pressbox.curator.ask.service import AskService
from pressbox.curator.cards.service import CardService
from pressbox.curator.evaluate.service import EvaluationService
from pressbox.curator.graph.service import GraphService
from pressbox.curator.operations.service import WorkService
from pressbox.curator.reading.service import ReadingService
from pressbox.curator.reading.states import StateService
from pressbox.curator.research.service import ResearchService
from pressbox.curator.sources.outlines import OutlineService
from pressbox.curator.sources.service import SourceService
from pressbox.curator.translate.service import TranslationService


@dataclass(frozen=True)
class Curator:
    sources: SourceService
    outlines: OutlineService
    reading: ReadingService
    states: StateService
    research: ResearchService
    evaluations: EvaluationService
    work: WorkService
    enriching: CardService
    translations: TranslationService
    asking: AskService
    graph: GraphService
    apps: AppService
    views: ViewService
    streams: StreamService
