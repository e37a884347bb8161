"""Which Pressbox this is: the version, and after a plus sign the commit where it was installed from one."""

import json
from functools import cache
from importlib.metadata import Distribution, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

_SHORT = 12
_REFERENCE = "ref: "


@cache
def release() -> str:
    """Read once: what runs stays what it was when somebody checks out another commit below it."""
    return read_release(distribution("pressbox"))


def read_release(installed: Distribution) -> str:
    commit = _find_commit(json.loads(installed.read_text("direct_url.json") or "{}"))
    return f"{installed.version}+{commit[:_SHORT]}" if commit else installed.version


def _find_commit(origin: dict[str, dict[str, object] | str]) -> str | None:
    """By what the installer noted: it took a commit of a repository, or left the files in somebody's folder."""
    cloned, folder, url = origin.get("vcs_info"), origin.get("dir_info"), origin.get("url")
    if isinstance(cloned, dict):
        return str(cloned.get("commit_id") or "") or None
    # A copy of a folder does not change with it, so only one that is used in place tells.
    if isinstance(folder, dict) and folder.get("editable") and isinstance(url, str):
        try:
            return _read_head(Path(unquote(urlsplit(url).path)) / ".git")
        except OSError:
            return None
    return None


def _read_head(entry: Path) -> str | None:
    """The commit that is checked out. No program is asked: there may be none."""
    # Beside the first checkout of a repository there may be others, whose entry is a file that names a folder.
    own = entry.parent / entry.read_text().strip().removeprefix("gitdir: ") if entry.is_file() else entry
    head = (own / "HEAD").read_text().strip()
    if not head.startswith(_REFERENCE):
        return head
    name = head.removeprefix(_REFERENCE)
    shared = own / (own / "commondir").read_text().strip() if (own / "commondir").exists() else own
    if (shared / name).is_file():
        return (shared / name).read_text().strip()
    packed = (shared / "packed-refs").read_text().splitlines()
    return next((line.partition(" ")[0] for line in packed if line.endswith(f" {name}")), None)
