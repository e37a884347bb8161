"""Every wait, interval, size and limit of the curator, filled from the settings."""

from datetime import timedelta

from pressbox.core.contracts import Contract


class CuratorPolicy(Contract):
    # Crawling
    page_size: int = 100
    # Most of them wait for an answer, each of another host.
    probes_at_once: int = 64
    feeds_at_once: int = 10
    shortest_interval: timedelta = timedelta(minutes=15)
    longest_interval: timedelta = timedelta(hours=24)
    longest_backoff: timedelta = timedelta(days=2)
    entries_per_crawl: int = 200
    # Of a feed that is new to a person, so many entries are unread, and so many get their full text.
    unread_at_start: int = 10
    feed_bytes: int = 10_000_000
    # A server that says "not modified" for longer is asked for the whole once: some say it for ever.
    trust_in_validators: timedelta = timedelta(days=3)
    # Between two feeds of one host. Shorter than between pages, since most answers are "not modified".
    feed_delay: timedelta = timedelta(milliseconds=100)

    # Fetching
    host_delay: timedelta = timedelta(seconds=2)
    # For how long all feeds or all pages of a host wait when it asks for it; what was asked for waits as long as asked.
    longest_feed_pause: timedelta = timedelta(hours=1)
    longest_page_pause: timedelta = timedelta(minutes=15)
    fetch_tries: int = 3
    page_bytes: int = 5_000_000
    # These and their titles are one message, which must stay below 10 kB.
    entries_per_fetch: int = 40
    # How long a page of feeds waits for its slowest ones before the next page starts.
    page_patience: timedelta = timedelta(seconds=30)

    # Distilling
    distil_batch: int = 5
    # A batch that is not full is started when the last one was started so long ago.
    distil_pause: timedelta = timedelta(seconds=10)
    # Until a model that does not answer is asked again.
    model_pause: timedelta = timedelta(minutes=2)
    summary_sentences: int = 4
    target_language: str = ""

    # Index and vectors
    index_batch: int = 500
    embedding_batch: int = 100

    # Cleanup
    keep_days: int = 7

    def at_speed(self, speed: float) -> "CuratorPolicy":
        """Return the same policy for a clock that runs `speed` times as fast."""
        names = (
            *("shortest_interval", "longest_interval", "longest_backoff", "host_delay", "feed_delay", "model_pause"),
            *("trust_in_validators", "longest_feed_pause", "longest_page_pause"),
        )
        return self.model_copy(update={name: getattr(self, name) / speed for name in names})
