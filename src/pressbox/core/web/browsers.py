"""User-Agent headers in words: enough to recognise one's own browser in a list, no more."""

# Order matters: many browsers also name the ones they descend from.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("python-httpx/", "httpx"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
LONGEST = 60


def browser_in_words(agent: str) -> str:
    """`Firefox, Linux`; the header itself, shortened, when it is none we know."""
    browser = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    if not browser:
        return agent if len(agent) <= LONGEST else agent[: LONGEST - 1] + "…"
    return f"{browser}, {system}" if system else browser
