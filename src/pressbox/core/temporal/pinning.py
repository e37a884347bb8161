"""Which version of the workers continues a run: manifests say it where they name a workflow type.

`pinned`     the version that began it. For what ends within minutes: nobody has to think of runs of older code.
`upgrading`  the current one. For what lives on, or continues as new: it must replay on newer code, by `patched`.

It matters only while versions are on. The SDK's own mark on the class cannot be used: a server refuses it from workers
without versions, and ours run without unless they are told to.
"""

from typing import TypeVar

from temporalio.common import VersioningBehavior

AnyWorkflow = TypeVar("AnyWorkflow", bound=type)
_MARK = "__pressbox_versioning__"


def pinned(workflow: AnyWorkflow) -> AnyWorkflow:
    setattr(workflow, _MARK, VersioningBehavior.PINNED)
    return workflow


def upgrading(workflow: AnyWorkflow) -> AnyWorkflow:
    setattr(workflow, _MARK, VersioningBehavior.AUTO_UPGRADE)
    return workflow


def behaviour_of(workflow: type) -> VersioningBehavior:
    behaviour: VersioningBehavior = getattr(workflow, _MARK, VersioningBehavior.UNSPECIFIED)
    return behaviour
