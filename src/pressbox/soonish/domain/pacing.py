"""How fast the services that people use may be sent to. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Pace:
    """At most `burst` messages at once, then one every `spacing` seconds."""

    spacing: float
    burst: int = 1


# ntfy lets 60 requests of one network address through, and then one per five seconds.
_NTFY = Pace(5.0, burst=60)
# A bot of Telegram sends thirty messages a second, to all chats together.
_TELEGRAM = Pace(1 / 30, burst=30)
_DISCORD = Pace(1 / 50, burst=50)
# One message a second for each webhook; a short burst is let through.
_PER_WEBHOOK = Pace(1.0)

# What all targets of one host or service share, by scheme and, for plain web addresses, by host.
SHARED: Mapping[str, Pace] = MappingProxyType(
    {
        "ntfy": _NTFY,
        "ntfys": _NTFY,
        "ntfy.sh": _NTFY,
        "tgram": _TELEGRAM,
        "discord": _DISCORD,
        "discord.com": _DISCORD,
        "discordapp.com": _DISCORD,
    }
)
# What one target takes, where that is known better than by the plugin.
PER_TARGET: Mapping[str, Pace] = MappingProxyType(
    {
        "ntfy": Pace(0.0),
        "ntfys": Pace(0.0),
        "tgram": Pace(1.0),
        "discord": Pace(2.0, burst=5),
        "slack": _PER_WEBHOOK,
        "hooks.slack.com": _PER_WEBHOOK,
    }
)
# Here one network address is limited, so "wait" is meant for everything that we send there.
LIMITED_BY_ADDRESS = frozenset({"ntfy", "ntfys", "ntfy.sh"})


def plan_turn(free_at: float, now: float, pace: Pace) -> tuple[float, float]:
    """When the next message may leave, and from when a whole burst would be free again.

    `free_at` is what the turn before it returned.
    """
    begin = max(free_at, now)
    return max(now, begin - (pace.burst - 1) * pace.spacing), begin + pace.spacing
