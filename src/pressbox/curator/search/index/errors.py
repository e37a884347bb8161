"""What goes wrong inside tantivy, in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

from pressbox.core.errors import TransientError
from pressbox.curator.search.index.folder import REPAIR


@contextmanager
def index_trouble() -> Iterator[None]:
    """All of it waits for another try, or for a person who mends the index."""
    try:
        yield
    # A damaged file makes tantivy panic, and its panics are no Exceptions.
    except BaseException as error:
        if not isinstance(error, ValueError | OSError) and type(error).__name__ != "PanicException":
            raise
        if "LockBusy" in str(error):
            raise TransientError("Another process is writing the search index; this one waits for its turn.") from error
        raise TransientError(f"The search index cannot be used: {error}. {REPAIR}") from error
