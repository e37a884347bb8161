"""All use cases of the curator, as pages, REST and commands get them: `wiring.service(resources)` makes one."""

from dataclasses import dataclass

from pressbox.curator.service.apps import AppService, ViewService
from pressbox.curator.service.asking import AskService
from pressbox.curator.service.enriching import EnrichingService
from pressbox.curator.service.evaluating import EvaluationService
from pressbox.curator.service.graph import GraphService
from pressbox.curator.service.outlines import OutlineService
from pressbox.curator.service.reading import ReadingService
from pressbox.curator.service.research import ResearchService
from pressbox.curator.service.sources import SourceService
from pressbox.curator.service.states import StateService
from pressbox.curator.service.streams import StreamService
from pressbox.curator.service.translating import TranslationService
from pressbox.curator.service.work import WorkService


@dataclass(frozen=True)
class Curator:
    sources: SourceService
    outlines: OutlineService
    reading: ReadingService
    states: StateService
    research: ResearchService
    evaluations: EvaluationService
    work: WorkService
    enriching: EnrichingService
    translations: TranslationService
    asking: AskService
    graph: GraphService
    apps: AppService
    views: ViewService
    streams: StreamService
