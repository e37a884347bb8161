"""Names stored in histories are data: the registered sets are pinned, and nothing is forgotten."""

import inspect
from typing import cast

import pytest
from pydantic import SecretStr
from temporalio import activity, workflow
from temporalio.common import VersioningBehavior

from pressbox.core.app import AppManifest, Resources
from pressbox.core.config import Settings
from pressbox.core.temporal.calls import call_options
from pressbox.core.temporal.pinning import behaviour_of
from pressbox.demo.manifest import APP as DEMO
from pressbox.entry.manifests import APPLICATIONS
from tests.architecture.source import decorated, modules

MANIFESTS = (*APPLICATIONS, DEMO)

# Change these lines only together with a migration of everything that still runs under the old name.
WORKFLOWS = {
    "footy": [
        "DownloadWorkflow",
        "IngestWorkflow",
        "MonitorWorkflow",
        "RAGWorkflow",
        "TwitterWorkflow",
        "UpkeepWorkflow",
        "UploadWorkflow",
    ],
    "soonish": ["BroadcastWorkflow", "EventWorkflow", "ReconcileWorkflow", "ReminderWorkflow"],
    "curator": [
        "AllFeedsIngestionWorkflow",
        "AnswerWorkflow",
        "ContentDistillationWorkflow",
        "ContextCollectionWorkflow",
        "DeepResearchWorkflow",
        "DeleteEnrichmentWorkflow",
        "DomainFetchWorkflow",
        "EmbeddingBackfillWorkflow",
        "EntriesCleanupWorkflow",
        "EvaluationWorkflow",
        "ExtractEntryContextWorkflow",
        "FetchEntryLinksWorkflow",
        "GlobalGraphUpdateWorkflow",
        "GraphRebuildWorkflow",
        "PreviewFetchWorkflow",
        "ReprocessEntriesWorkflow",
        "ScheduleFetchWorkflow",
        "SearchPruneWorkflow",
        "SearchReindexWorkflow",
        "SingleFeedIngestionWorkflow",
        "SummarizationEvaluationWorkflow",
        "TranslationWorkflow",
    ],
    "matchday": ["MatchdayWorkflow"],
    "delivery": ["SendNoticesWorkflow"],
    "core": ["MaintenanceWorkflow"],
    "digest": ["DigestWorkflow"],
    "demo": ["DemoTreeWorkflow"],
}
ACTIVITIES = {
    "footy": [
        "bump_video_popularity",
        "categorize_and_store_fixtures",
        "check_and_mark_download_complete",
        "check_event_exists",
        "check_twitter_workflow_running",
        "cleanup_download_temp",
        "cleanup_fixture_temp_dirs",
        "cleanup_individual_files",
        "cleanup_old_fixtures",
        "cleanup_upload_temp",
        "complete_fixture_if_ready",
        "deduplicate_by_md5",
        "download_single_video",
        "execute_twitter_search",
        "fetch_active_fixtures",
        "fetch_event_data",
        "fetch_fixtures_by_ids",
        "fetch_staging_fixtures",
        "fetch_todays_fixtures",
        "finish_search",
        "get_cached_team_aliases",
        "get_download_workflow_count",
        "get_team_aliases",
        "get_twitter_search_data",
        "notify_frontend_refresh",
        "pre_activate_upcoming_fixtures",
        "process_fixture_events",
        "queue_videos_for_upload",
        "recalculate_video_ranks",
        "register_download_workflow",
        "register_monitor_workflow",
        "run_canaries",
        "save_discovered_videos",
        "save_team_aliases",
        "save_video_objects",
        "set_monitor_complete",
        "settle_candidates",
        "store_and_compare",
        "sync_fixture_metadata",
        "update_video_in_place",
    ],
    "footy-clips": ["fetch_clips", "search_once"],
    "footy-media": [
        "deduplicate_videos",
        "generate_video_hash",
        "inspect_clips",
        "recheck_clips",
        "replace_s3_video",
        "store_batch",
        "upload_single_video",
        "validate_video_is_soccer",
    ],
    "soonish": [
        "accept_shared_reminder",
        "accept_update_notification",
        "cancel_notification",
        "complete_event",
        "create_reminder_schedules",
        "create_reminder_schedules_for_subscription",
        "delete_reminder_schedules",
        "find_due_work",
        "finish_notification",
        "get_event_details",
        "measure_notification",
        "purge_deleted_events",
        "remove_fired_schedule",
        "send_notification",
        "send_reminder_notification",
        "send_reminder_page",
        "sweep_asked_reminders",
        "sweep_outbox",
        "sweep_reminders",
        "tell_owners_of_broken_channels",
        "validate_event_exists",
    ],
    "curator": [
        "cleanup_old_entries",
        "close_research",
        "crawl_due_feeds",
        "crawl_single_feed",
        "delete_enrichment",
        "end_answer",
        "fetch_single_content",
        "find_due_work",
        "get_app_settings",
        "get_entries",
        "get_entries_for_distillation",
        "get_entries_for_embedding",
        "get_entries_for_graph_update",
        "get_entries_for_translation",
        "get_entries_to_fetch",
        "get_entry",
        "get_entry_ids_for_indexing",
        "get_leftovers",
        "list_feeds",
        "mark_entries_graph_added",
        "open_research",
        "probe_feeds",
        "prune_global_graph",
        "reset_global_graph",
        "save_distilled_entries",
        "save_entry_context",
        "save_github_enrichment",
        "save_translations",
        "search_github_candidates",
        "swap_global_graph",
    ],
    "curator-heavy": [
        "add_to_global_graph_bulk",
        "check_research",
        "compute_embeddings",
        "deepl_translate_articles",
        "distill_due_entries",
        "distill_entry_content",
        "evaluate_ragas",
        "evaluate_summarization",
        "extract_entry_context",
        "fetch_and_add_to_graph_bulk",
        "fetch_and_save_entry_links",
        "fetch_contents",
        "fetch_due_contents",
        "fetch_github_readme",
        "fetch_single_content",
        "llm_translate_articles",
        "ms_translate_articles",
        "plan_research",
        "read_for_research",
        "rerank_github_results",
        "retrieve_passages",
        "save_entry_links",
        "search_for_research",
        "write_answer",
        "write_research",
    ],
    "curator-index": [
        "clear_search_index",
        "get_orphaned_document_ids",
        "index_entries_batch",
        "init_search_index",
        "remove_documents_from_index",
        "swap_search_index",
    ],
    "matchday": ["keep_all_fixtures", "keep_changed_fixtures"],
    "delivery": ["send_notices"],
    "digest": ["send_due_digests"],
    "core": [
        "prune_accounts",
        "prune_audit_log",
        "prune_changes",
        "prune_notices",
        "prune_progress",
        "prune_rate_limits",
        "prune_scratch_objects",
        "prune_sessions",
        "prune_tokens",
    ],
    "demo": ["take_demo_step"],
}
SCHEDULES = [
    "ingest-daily",
    "monitor-every-30s",
    "footy-upkeep",
    "soonish-reconcile",
    "curator-ingest",
    "curator-cleanup",
    "curator-graph",
    "digest",
    "matchday-sweep",
    "core-maintenance",
]


class AnyResources:
    """Wiring only passes parts on, so any object will do to read names; only the settings are read."""

    settings = Settings(secret_key=SecretStr("not a secret"))

    def __getattr__(self, name: str) -> object:
        return self

    def __call__(self, *_: object) -> object:
        return self


def activities(manifest: AppManifest) -> dict[str, list[str]]:
    built = manifest.activities(cast(Resources, AnyResources()))
    return {
        queue: sorted(activity._Definition.must_from_callable(function).name or "" for function in functions)
        for queue, functions in built.items()
    }


def workflows(manifest: AppManifest) -> dict[str, list[str]]:
    return {
        queue: sorted(workflow._Definition.must_from_class(found).name or "" for found in classes)
        for queue, classes in manifest.workflows().items()
    }


def test_registered_workflow_names_are_pinned() -> None:
    assert {queue: names for manifest in MANIFESTS for queue, names in workflows(manifest).items()} == WORKFLOWS


def test_registered_activity_names_are_pinned() -> None:
    assert {queue: names for manifest in MANIFESTS for queue, names in activities(manifest).items()} == ACTIVITIES


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest.name)
def test_every_activity_says_how_it_is_called(manifest: AppManifest) -> None:
    built = manifest.activities(cast(Resources, AnyResources()))
    for function in (function for functions in built.values() for function in functions):
        config = call_options(function).config
        assert config.get("start_to_close_timeout"), function
        assert config.get("retry_policy"), function


def test_schedule_ids_are_pinned() -> None:
    assert [item.id for manifest in MANIFESTS for item in manifest.schedules(Settings())] == SCHEDULES


def test_nothing_that_is_defined_is_left_unregistered() -> None:
    # Benchmarks bring workers of their own.
    product = [file for name, file in modules() if not name.startswith("bench/")]
    defined_workflows = {name for file in product for name in decorated(file, "workflow.defn")}
    defined_activities = {name for file in product for name in decorated(file, "activity.defn")}
    assert defined_workflows == {name for names in WORKFLOWS.values() for name in names}
    assert defined_activities == {name for names in ACTIVITIES.values() for name in names}


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest.name)
def test_everything_is_registered_on_a_declared_queue(manifest: AppManifest) -> None:
    queues = {queue.name for queue in manifest.queues}
    assert set(workflows(manifest)) | set(activities(manifest)) <= queues
    assert {item.task_queue for item in manifest.schedules(Settings())} <= queues


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest.name)
def test_every_schedule_starts_a_workflow_of_its_queue(manifest: AppManifest) -> None:
    registered = workflows(manifest)
    for item in manifest.schedules(Settings()):
        assert item.workflow in registered[item.task_queue]


def test_no_queue_topic_or_navigation_key_belongs_to_two_applications() -> None:
    queues = [queue.name for manifest in MANIFESTS for queue in manifest.queues]
    topics = [topic.kind for manifest in MANIFESTS for topic in manifest.topics()]
    keys = [manifest.navigation.key for manifest in MANIFESTS if manifest.navigation]
    for names in (queues, topics, keys, [manifest.name for manifest in MANIFESTS]):
        assert len(names) == len(set(names))


def workflow_types() -> list[type]:
    return [kind for manifest in MANIFESTS for group in manifest.workflows().values() for kind in group]


@pytest.mark.parametrize("kind", workflow_types(), ids=lambda kind: kind.__name__)
def test_every_workflow_type_says_which_version_continues_it(kind: type) -> None:
    said = behaviour_of(kind)
    assert said is not VersioningBehavior.UNSPECIFIED, (
        "name it as pinned(…) or upgrading(…); see core/temporal/pinning.py"
    )
    # A run that continues as new takes its version along: pinned, it would keep old workers alive for ever.
    if "continue_as_new" in inspect.getsource(kind):
        assert said is VersioningBehavior.AUTO_UPGRADE
