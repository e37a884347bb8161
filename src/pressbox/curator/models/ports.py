"""What paid requests of the curator are for."""

from enum import StrEnum


class Feature(StrEnum):
    """What a request is for; the page of costs adds up by it."""

    DISTIL = "distil"
    TRANSLATE = "translate"
    CONTEXT = "context"
    RERANK = "rerank"
    ANSWER = "answer"
    RESEARCH = "research"
    EVALUATE = "evaluate"
    GRAPH = "graph"
