"""`python -m pressbox`, which is how `up` starts its children."""

from pressbox.entry.cli import run

run()
