"""Every wait, interval, limit and threshold of footy in one place. `FootySettings.policy` fills it."""

from datetime import timedelta

from pressbox.core.contracts import Contract


class FootyPolicy(Contract):
    """The constants of the specification. The demo divides the times by its speed and changes nothing else."""

    # Ingest
    days: int = 3
    lookahead_days: int = 30
    retention: timedelta = timedelta(days=14)
    alias_age: timedelta = timedelta(days=30)
    alias_patience: timedelta = timedelta(seconds=30)
    concurrent_teams: int = 4

    # Monitor
    staging_interval: timedelta = timedelta(minutes=15)
    activate_ahead: timedelta = timedelta(minutes=30)
    api_batch: int = 20
    runs_to_confirm: int = 3
    runs_to_remove: int = 3
    # The document has 3, or one with a winner; but the last goal is listed up to four polls after the whistle.
    polls_to_end: int = 6
    # A match of a cup may say FT for some minutes and go on, and a last goal may be listed later still.
    end_patience: timedelta = timedelta(minutes=10)
    # Half an hour, while list and score disagree after the whistle.
    polls_to_agree: int = 60
    minute_tolerance: int = 2
    # An interrupted match is polled like a waiting one after this time, and so is one that stands still.
    stopped_patience: timedelta = timedelta(minutes=30)
    vanished_patience: timedelta = timedelta(hours=1)
    removal_grace: timedelta = timedelta(hours=24)
    completion_deadline: timedelta = timedelta(minutes=45)

    # Clip search
    # A goal of which nothing was known for this long is shown, but its clips are not searched: a first start in the
    # evening would search for the whole day.
    search_reach: timedelta = timedelta(hours=4)
    downloads_wanted: int = 10
    attempts: int = 15
    attempt_interval: timedelta = timedelta(seconds=60)
    attempt_pause: timedelta = timedelta(seconds=10)
    search_age: timedelta = timedelta(minutes=3)
    search_results: int = 25
    videos_per_attempt: int = 5

    # Download and validation
    shortest: float = 3.0
    longest: float = 60.0
    narrowest: float = 1.33
    largest_bytes: int = 200_000_000
    download_time: timedelta = timedelta(seconds=80)
    clock_tolerance: int = 3

    # Upload
    upload_idle: timedelta = timedelta(minutes=5)
    same_duration: float = 0.15
    batches_per_run: int = 50

    def at_speed(self, speed: float) -> "FootyPolicy":
        """The same rules with times divided by `speed`."""
        return self.model_copy(
            update={
                name: getattr(self, name) / speed
                for name in (
                    "staging_interval",
                    "end_patience",
                    "stopped_patience",
                    "vanished_patience",
                    "completion_deadline",
                    "attempt_interval",
                    "attempt_pause",
                    "search_age",
                    "upload_idle",
                )
            }
        )
