"""The one place that decides who belongs to an audience: in SQL for rows, and for many things and people at once."""

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    TableValuedAlias,
    and_,
    column,
    func,
    literal,
    or_,
    select,
    true,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from pressbox.core.audiences.contracts import ADMINISTRATORS_KIND, EVERYONE_KIND, NOBODY_KIND, PERSON_KIND, Audience
from pressbox.core.db.parameters import PERSON

OptionalText = InstrumentedAttribute[str | None]
OptionalNumber = InstrumentedAttribute[int | None]
BUILT_IN = frozenset({EVERYONE_KIND, ADMINISTRATORS_KIND, PERSON_KIND, NOBODY_KIND})


@dataclass(frozen=True)
class AudienceKind:
    """An audience of an application, such as the readers of a feed.

    `includes` takes the ids of a thing and of a person, as columns, and gives the condition under which the person
    belongs to it. It is asked whenever something is shown: who leaves sees nothing more. Of a `strict` one nobody
    else sees that there is anything, not even an administrator: the mere name of the work would tell too much.
    """

    name: str
    includes: Callable[[ColumnElement[int], ColumnElement[int]], ColumnElement[bool]]
    strict: bool = False


@dataclass(frozen=True)
class Viewer:
    """Somebody who looks, and the audiences that the applications declare."""

    user_id: int
    is_administrator: bool = False
    kinds: tuple[AudienceKind, ...] = ()

    @property
    def _person(self) -> ColumnElement[int]:
        return literal(self.user_id, BigInteger)

    def belongs_to(self, kind: OptionalText, id: OptionalNumber) -> ColumnElement[bool]:
        """The condition on a row with these columns. A row that names no audience, or an unknown one, is nobody's."""
        thing, person = type_coerce(id, BigInteger), self._person
        conditions = [kind == EVERYONE_KIND, and_(kind == PERSON_KIND, id == person)]
        if self.is_administrator:
            conditions.append(kind == ADMINISTRATORS_KIND)
        conditions += [and_(kind == own.name, own.includes(thing, person)) for own in self.kinds]
        return func.coalesce(or_(*conditions), False)

    def may_know_of(self, kind: OptionalText, id: OptionalNumber) -> ColumnElement[bool]:
        """Also what is not for them: administrators know that it exists, unless its audience is strict."""
        belongs = self.belongs_to(kind, id)
        if not self.is_administrator:
            return belongs
        strict = [own.name for own in self.kinds if own.strict]
        return or_(belongs, kind.is_(None), kind.not_in(strict)) if strict else true()

    def sees_outline_of(self, audience: Audience | None) -> bool:
        """Whether they see that there is something, though they do not belong to its audience."""
        kind = audience.kind if audience else ""
        return self.is_administrator and all(own.name != kind for own in self.kinds if own.strict)


class AnyViewer(Viewer):
    """Whoever the parameter `person` names, for statements that are built once for all people of the same role."""

    @property
    def _person(self) -> ColumnElement[int]:
        return PERSON

    @classmethod
    def like(cls, viewer: Viewer) -> "AnyViewer":
        return cls(0, viewer.is_administrator, viewer.kinds)


@dataclass(frozen=True)
class Members:
    """Which of some people belong to some audiences; the built-in ones need no list."""

    listed: frozenset[tuple[Audience, int]] = frozenset()

    def include(self, audience: Audience | None, viewer: Viewer) -> bool:
        if audience is None:
            return False
        if audience.kind == ADMINISTRATORS_KIND:
            return viewer.is_administrator
        if audience.kind == PERSON_KIND:
            return audience.id == viewer.user_id
        return audience.kind == EVERYONE_KIND or (audience, viewer.user_id) in self.listed


async def find_members(
    session: AsyncSession, kinds: Collection[AudienceKind], audiences: Collection[Audience], user_ids: Collection[int]
) -> Members:
    """Find which of these people belong to which of these audiences: one statement for each kind."""
    things: dict[str, set[int]] = defaultdict(set)
    for audience in audiences:
        if audience.id is not None and audience.kind not in BUILT_IN:
            things[audience.kind].add(audience.id)
    found: set[tuple[Audience, int]] = set()
    for kind in kinds:
        if not things[kind.name] or not user_ids:
            continue
        thing, person = _unnest(things[kind.name], "thing"), _unnest(user_ids, "person")
        statement = select(thing.c.thing, person.c.person).select_from(thing.join(person, true()))
        rows = await session.execute(statement.where(kind.includes(thing.c.thing, person.c.person)))
        found |= {(Audience(kind=kind.name, id=id), user_id) for id, user_id in rows.tuples()}
    return Members(frozenset(found))


def _unnest(ids: Collection[int], name: str) -> TableValuedAlias:
    named = column(name, BigInteger)
    return func.unnest(literal(sorted(ids), ARRAY(BigInteger))).table_valued(named, name=f"of_{name}").render_derived()
