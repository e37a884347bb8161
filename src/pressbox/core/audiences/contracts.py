"""Who may read of something: what a workflow, a live topic or a line on a page says of itself.

Light enough for the workflow sandbox. `core/audiences/members.py` decides who belongs to an audience.
"""

from pressbox.core.contracts import Contract

EVERYONE_KIND = "everyone"
ADMINISTRATORS_KIND = "administrators"
PERSON_KIND = "person"
NOBODY_KIND = "nobody"


class Audience(Contract):
    """The kind of an audience and, of most kinds, which one: `person` 7, `curator.feed` 12."""

    kind: str
    id: int | None = None


# Whoever is signed in.
EVERYONE = Audience(kind=EVERYONE_KIND)
# Those who run the instance. For work on what belongs to nobody in particular, and that names nothing of anybody.
ADMINISTRATORS = Audience(kind=ADMINISTRATORS_KIND)
# Work on things of many people: an administrator sees that it runs, as of all work, and nobody reads what it says.
NOBODY = Audience(kind=NOBODY_KIND)


def person(user_id: int) -> Audience:
    return Audience(kind=PERSON_KIND, id=user_id)
