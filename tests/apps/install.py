"""Finds newsboat for the test with a real reader app, or installs it; outside CI a missing one only skips that test."""

import os
import shutil
import subprocess
import sys

from tests.browser.install import QUIET


def find_newsboat() -> str | None:
    """The program that NEWSBOAT_BINARY names, or one on the path."""
    return os.environ.get("NEWSBOAT_BINARY") or shutil.which("newsboat")


def main() -> int:
    if find_newsboat():
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        sys.stdout.write("Installing newsboat for the test with a real reader app\n")
        quiet, environment = ["apt-get", *QUIET], {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = [*quiet, "install", "--no-install-recommends", "newsboat"]
        # Whoever just installed a browser has the lists already.
        for commands in ([install], [[*quiet, "update"], install]):
            if all(subprocess.run(command, env=environment).returncode == 0 for command in commands):
                break
    if find_newsboat():
        return 0
    sys.stdout.write("newsboat was not found and cannot be installed. Install it and run again; its test is skipped.\n")
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
