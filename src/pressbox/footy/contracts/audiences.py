"""Who reads of work on a goal: its name tells who scored. Light enough for the workflow sandbox."""

from pressbox.core.audiences.contracts import Audience

MATCH_AUDIENCE = "footy.match"


def watchers_of(fixture_id: int) -> Audience:
    """Everybody but those who do not want to know yet how this match stands."""
    return Audience(kind=MATCH_AUDIENCE, id=fixture_id)
