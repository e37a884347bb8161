"""What the model answered LightRAG, row by row: which entities and relations this one text has."""

import re
from collections.abc import Sequence

from pressbox.curator.context.domain.context import Entity, EntityKind, Relationship, entity_key

FIELD = "<|#|>"
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
ENTITY_FIELDS = 4
RELATION_FIELDS = 5
# LightRAG's kinds, where we have one like it.
KINDS = {
    "person": EntityKind.PERSON,
    "organization": EntityKind.ORGANISATION,
    "location": EntityKind.PLACE,
    "event": EntityKind.EVENT,
    "concept": EntityKind.CONCEPT,
    "artifact": EntityKind.PRODUCT,
}


def said_in(answers: Sequence[str], text: str) -> tuple[tuple[Entity, ...], tuple[Relationship, ...]]:
    """Rows that are none are left out, as LightRAG leaves them out."""
    rows = [[part.strip() for part in line.split(FIELD)] for answer in answers for line in answer.splitlines()]
    sentences = [one.strip() for one in _ENDS.split(text) if one.strip()]
    entities = tuple(
        Entity(row[1], KINDS.get(row[2].casefold(), EntityKind.OTHER), row[3], _quote(sentences, row[1]))
        for row in rows
        if row[0].casefold() == "entity" and len(row) == ENTITY_FIELDS
    )
    relationships = tuple(
        Relationship(row[1], row[2], row[3].split(",")[0], _quote(sentences, row[1], row[2]))
        for row in rows
        if row[0].casefold() == "relation" and len(row) == RELATION_FIELDS
    )
    return entities, relationships


def _quote(sentences: Sequence[str], *names: str) -> str:
    """The first sentence that names them all; without one nothing is quoted."""
    keys = [entity_key(name) for name in names]
    return next((one for one in sentences if all(key in entity_key(one) for key in keys)), "")
