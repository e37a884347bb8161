"""What the life of one goal costs in Temporal: all events of its search, its downloads and its upload."""

from datetime import UTC, datetime, timedelta

from pressbox.footy.contracts.search import TwitterWorkflowInput
from pressbox.footy.ids import download_workflow_id, twitter_workflow_id, upload_workflow_id
from pressbox.footy.workflows.twitter import TwitterWorkflow
from tests.fakes.footy import LIVERPOOL, clip
from tests.workflows.footy.conftest import Stage

ATTEMPTS = 10
# As on a match day: most posts come in the first minutes.
FOUND = (3, 3, 2, 2, 1, 1)


async def test_a_goal_with_ten_attempts_and_twelve_clips_costs_at_most_four_hundred_events(stage: Stage) -> None:
    """Attempts are so far apart that each is over before the next begins, as with a minute between them."""
    stage.policy = stage.policy.model_copy(
        update={
            "attempts": 15,
            "attempt_interval": timedelta(seconds=1),
            "upload_idle": timedelta(seconds=3),
        }
    )
    world, goal = stage.world, stage.goal()
    # Ingest caches the names of the teams of the day.
    await world.teams.save_aliases(LIVERPOOL, ("Liverpool", "LFC"), "fake", datetime.now(UTC))
    numbers = iter(range(sum(FOUND)))
    world.sources[0].waves = [
        [world.publish(f"https://clips.example.org/{n}", clip(f"s{n}")) for n in (next(numbers) for _ in range(many))]
        for many in FOUND
    ]
    search = twitter_workflow_id(goal)
    found = await stage.run(TwitterWorkflow, TwitterWorkflowInput(goal=goal, policy=stage.policy), search)
    upload = upload_workflow_id(stage.event_id)
    await stage.client.get_workflow_handle(upload).result()
    downloads = [download_workflow_id(goal, number + 1) for number in range(ATTEMPTS)]
    events = {each: await stage.events_of(each) for each in (search, *downloads, upload)}
    assert (found["attempts"], found["found"], found["ended"]) == (ATTEMPTS, sum(FOUND), "enough downloads")
    assert len(world.clips.all) == sum(FOUND)
    assert world.goals.all[stage.event_id].complete
    assert sum(events.values()) <= 400, events
