"""Time limits and tries of every activity, by name: the tables of the document, and what is said beside them.

`seconds` is start to close. A heartbeat is set where more than ten seconds are usual, so that a dead worker is noticed
sooner. Tries pass quickly; `patiently` repeats them in rounds where giving up would lose something.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityConfig

HOUR = 3600


@dataclass(frozen=True)
class Limits:
    seconds: float
    tries: int
    first_pause: float = 1
    factor: float = 2
    heartbeat: float | None = None
    media: bool = False

    def options(self) -> ActivityConfig:
        return ActivityConfig(
            start_to_close_timeout=timedelta(seconds=self.seconds),
            heartbeat_timeout=timedelta(seconds=self.heartbeat) if self.heartbeat else None,
            retry_policy=RetryPolicy(
                initial_interval=timedelta(seconds=self.first_pause),
                backoff_coefficient=self.factor,
                maximum_attempts=self.tries,
            ),
        )


LIMITS: Mapping[str, Limits] = {
    # Ingest
    "fetch_todays_fixtures": Limits(30, 3),
    "fetch_fixtures_by_ids": Limits(30, 3),
    "categorize_and_store_fixtures": Limits(30, 3),
    "cleanup_old_fixtures": Limits(120, 2, heartbeat=30),
    # Monitor. One fetch makes many calls, so it has more than the 15 s of the document's single call.
    "register_monitor_workflow": Limits(10, 3),
    "fetch_staging_fixtures": Limits(60, 2, heartbeat=20),
    "pre_activate_upcoming_fixtures": Limits(30, 2),
    "fetch_active_fixtures": Limits(60, 2, heartbeat=20),
    "store_and_compare": Limits(10, 3),
    "sync_fixture_metadata": Limits(10, 3),
    "process_fixture_events": Limits(60, 3),
    "check_twitter_workflow_running": Limits(10, 2),
    "complete_fixture_if_ready": Limits(10, 3),
    # The document tries once; a browser that was not told would stay behind until the next change.
    "notify_frontend_refresh": Limits(10, 3),
    # RAG
    "get_cached_team_aliases": Limits(30, 3, 2),
    "get_team_aliases": Limits(90, 3, 5),
    "save_team_aliases": Limits(30, 2),
    # Twitter
    "set_monitor_complete": Limits(30, 5, 2),
    "get_download_workflow_count": Limits(30, 3, 2),
    "check_event_exists": Limits(30, 3, 2),
    "get_twitter_search_data": Limits(30, 3),
    "execute_twitter_search": Limits(60, 3, 10, 1.5, heartbeat=15),
    "save_discovered_videos": Limits(30, 3, 2),
    "finish_search": Limits(30, 5, 2),
    # Download
    "register_download_workflow": Limits(30, 5),
    "download_single_video": Limits(90, 3, 2, heartbeat=20),
    "validate_video_is_soccer": Limits(90, 4, 3, heartbeat=20, media=True),
    "generate_video_hash": Limits(HOUR, 2, heartbeat=60, media=True),
    "cleanup_download_temp": Limits(30, 2),
    "settle_candidates": Limits(30, 3),
    "queue_videos_for_upload": Limits(60, 3),
    "check_and_mark_download_complete": Limits(30, 3),
    # Upload. Storing also makes the file playable and its poster, hence the heartbeat.
    "fetch_event_data": Limits(30, 3),
    "deduplicate_by_md5": Limits(30, 2),
    "deduplicate_videos": Limits(HOUR, 3, heartbeat=120, media=True),
    "upload_single_video": Limits(60, 3, heartbeat=20, media=True),
    "replace_s3_video": Limits(60, 3, heartbeat=20, media=True),
    "update_video_in_place": Limits(30, 3),
    "bump_video_popularity": Limits(15, 2),
    "save_video_objects": Limits(30, 3),
    "recalculate_video_ranks": Limits(30, 2),
    "cleanup_individual_files": Limits(30, 2),
    "cleanup_fixture_temp_dirs": Limits(60, 2),
    "cleanup_upload_temp": Limits(30, 2),
    # Upkeep
    "run_canaries": Limits(90, 2, heartbeat=20),
    "recheck_clips": Limits(HOUR, 2, heartbeat=60, media=True),
}
