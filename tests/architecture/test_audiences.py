"""Every workflow and every live topic says who may read of it, and only the reader of progress touches its rows."""

import inspect
import re
from typing import get_type_hints

import pytest

from pressbox.core.app import AppManifest
from pressbox.core.audiences.contracts import Audience
from pressbox.core.audiences.members import BUILT_IN
from pressbox.core.progress.contracts import Progress
from pressbox.core.web.topics import audience_kinds, live_topics
from pressbox.curator.library import audiences as of_curator
from pressbox.demo.manifest import APP as DEMO
from pressbox.entry.manifests import APPLICATIONS
from pressbox.soonish.domain import audiences as of_soonish
from tests.architecture.source import modules, read

MANIFESTS = (*APPLICATIONS, DEMO)
WORKFLOWS = sorted(
    {found for manifest in MANIFESTS for queue in manifest.workflows().values() for found in queue},
    key=lambda found: found.__name__,
)
# They write rows, delete old ones, or measure; they show them to nobody.
TOUCH_ROWS = ("core/progress/", "maintenance/store.py", "bench/")


def test_progress_cannot_be_made_without_an_audience() -> None:
    assert Progress.model_fields["audience"].is_required()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda found: found.__name__)
def test_every_workflow_has_progress_that_declares_its_audience(workflow: type) -> None:
    get_progress = getattr(workflow, "get_progress", None)
    assert get_progress is not None, f"{workflow.__name__} needs a query get_progress that returns a Progress"
    shown = get_type_hints(get_progress)["return"]
    assert inspect.isclass(shown)
    assert issubclass(shown, Progress)
    assert shown.model_fields["audience"].is_required()


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest.name)
def test_audiences_are_called_after_their_application(manifest: AppManifest) -> None:
    names = [kind.name for kind in manifest.audiences()]
    assert len(set(names)) == len(names)
    assert all(name.startswith(f"{manifest.name}.") for name in names)


def test_every_audience_that_is_named_is_declared() -> None:
    """An unknown kind is for nobody: a forgotten declaration would hide work from its own people."""
    declared = BUILT_IN | {kind.name for kind in audience_kinds(MANIFESTS)}
    named = {
        text
        for module in (of_curator, of_soonish)
        for name, text in vars(module).items()
        if name.isupper() and isinstance(text, str)
    }
    named |= {topic.audience.kind for topic in live_topics(MANIFESTS).values() if isinstance(topic.audience, Audience)}
    assert named <= declared


def test_rows_of_progress_are_read_through_the_reader_alone() -> None:
    row = re.compile(r"\bProgressRow\b")
    touching = [name for name, file in modules() if row.search(read(file)) and not name.startswith(TOUCH_ROWS)]
    assert touching == []
