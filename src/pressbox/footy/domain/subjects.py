"""What people follow, hide and look at: with its id it is a subject of notices."""

TEAM_SUBJECT = "footy.team."
LEAGUE_SUBJECT = "footy.league."
FIXTURE_SUBJECT = "footy.fixture."


def fixture_subject(fixture_id: int) -> str:
    return f"{FIXTURE_SUBJECT}{fixture_id}"
