"""Imports every table, so that a test can compare models and migrations."""

import pressbox.core.accounts.rows
import pressbox.core.db.changes
import pressbox.core.progress.rows
import pressbox.core.temporal.rows
import pressbox.curator.adapters.answer_rows
import pressbox.curator.adapters.app_rows
import pressbox.curator.adapters.enrichment_rows
import pressbox.curator.adapters.graph_rows
import pressbox.curator.adapters.rows
import pressbox.footy.adapters.rows
import pressbox.soonish.adapters.rows  # noqa: F401
from pressbox.core.db.base import Base

metadata = Base.metadata
