"""Finds a Chromium for the browser tests, or installs one; outside CI a missing one only skips those tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# apt also waits for another one: a fresh machine updates itself in its first minutes.
QUIET = ("-qq", "-y", "-o", "DPkg::Lock::Timeout=300")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_browser() -> str | None:
    """The browser that BROWSER_BINARY names, one on the path, or Playwright's own."""
    named = os.environ.get("BROWSER_BINARY")
    if named:
        return named
    installed = next((path for name in NAMES if (path := shutil.which(name))), None)
    return installed or _playwright_browser()


def _playwright_browser() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _attempts() -> list[list[list[str]]]:
    attempts = [[[sys.executable, "-m", "playwright", "install", "chromium"]]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = ["apt-get", *QUIET]
        attempts.insert(0, [[*quiet, "update"], [*quiet, "install", "chromium"]])
    return attempts


def main() -> int:
    if find_browser():
        return 0
    for commands in _attempts():
        print("Installing a browser for the tests:", "; ".join(" ".join(command) for command in commands), flush=True)
        done = all(
            subprocess.run(command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}).returncode == 0
            for command in commands
        )
        if done and find_browser():
            return 0
    print("No Chromium was found and none could be installed. Install one and run again; browser tests are skipped.")
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
