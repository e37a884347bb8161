"""Who may know how a match stands, as a condition for the work on its goals."""

from sqlalchemy import ColumnElement, Text, and_, cast, exists, func, literal, not_, or_

from pressbox.core.audiences.members import AudienceKind
from pressbox.core.spoilers.choice import SpoilerMode
from pressbox.core.spoilers.rows import RevealRow, SpoilerChoiceRow
from pressbox.footy.adapters.rows import FixtureRow
from pressbox.footy.contracts.audiences import MATCH_AUDIENCE
from pressbox.footy.ids import FIXTURE_SUBJECT


def _may_know(fixture: ColumnElement[int], person: ColumnElement[int]) -> ColumnElement[bool]:
    """With a delay one hears of the work when nothing has been new in the match for so long."""
    choice = SpoilerChoiceRow
    subject = literal(FIXTURE_SUBJECT, Text).concat(cast(fixture, Text))
    looked = exists().where(RevealRow.user_id == person, RevealRow.subject == subject)
    recent = exists().where(
        FixtureRow.id == fixture,
        FixtureRow.last_activity > func.now() - func.make_interval(0, 0, 0, 0, 0, choice.minutes),
    )
    guarded = or_(choice.mode == SpoilerMode.HIDDEN, and_(choice.mode == SpoilerMode.DELAY, recent))
    return not_(exists().where(choice.user_id == person, guarded, not_(looked)))


WATCHERS = AudienceKind(MATCH_AUDIENCE, _may_know, strict=True)
