"""What is removed, in which order."""

from datetime import UTC, datetime, timedelta

from pressbox.maintenance.contracts import Kind
from pressbox.maintenance.settings import MaintenanceSettings

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_every_kind_is_removed_once_in_a_fixed_order() -> None:
    cutoffs = MaintenanceSettings().policy.cutoffs(NOW)
    assert list(cutoffs) == list(Kind)
    assert {kind: NOW - before for kind, before in cutoffs.items()} == {
        Kind.SESSIONS: timedelta(0),
        Kind.TOKENS: timedelta(0),
        Kind.RATE_LIMITS: timedelta(0),
        Kind.CHANGES: timedelta(hours=1),
        Kind.PROGRESS: timedelta(days=7),
        Kind.SCRATCH: timedelta(hours=24),
        Kind.ACCOUNTS: timedelta(0),
        Kind.AUDIT_LOG: timedelta(days=365),
        Kind.NOTICES: timedelta(days=90),
    }


def test_a_run_from_before_there_was_an_audit_log_does_what_it_did() -> None:
    policy = MaintenanceSettings().policy.model_copy(update={"keep_audit_log": None})
    assert {Kind.ACCOUNTS, Kind.AUDIT_LOG}.isdisjoint(policy.cutoffs(NOW))


def test_a_run_from_before_there_was_an_inbox_does_what_it_did() -> None:
    policy = MaintenanceSettings().policy.model_copy(update={"keep_notices": None})
    assert Kind.NOTICES not in policy.cutoffs(NOW)
