"""Imports every table, so that a test can compare models and migrations."""

import pressbox.core.accounts.rows
import pressbox.core.db.changes
import pressbox.core.progress.rows
import pressbox.core.temporal.rows
import pressbox.curator.apps.rows
import pressbox.curator.ask.store
import pressbox.curator.cards.store
import pressbox.curator.context.store
import pressbox.curator.evaluate.store
import pressbox.curator.graph.rows
import pressbox.curator.library.rows
import pressbox.curator.research.store
import pressbox.curator.translate.rows
import pressbox.footy.adapters.rows
import pressbox.soonish.adapters.rows  # noqa: F401
from pressbox.core.db.base import Base

metadata = Base.metadata
