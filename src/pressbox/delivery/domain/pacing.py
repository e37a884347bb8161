"""How fast the services that people use may be sent to. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType


@dataclass(frozen=True)
class Pace:
    """At most `burst` messages at once, then one every `spacing` seconds."""

    spacing: float
    burst: int = 1


@dataclass(frozen=True)
class Lane:
    """What shares a limit: a host, a service, one target, the mail server. The name may be a secret."""

    name: str = field(repr=False)
    pace: Pace


@dataclass(frozen=True)
class LaneState:
    """From when a whole burst is free again, and until when nothing may leave; in seconds since the epoch."""

    free_at: float = 0.0
    blocked_until: float = 0.0


# A message whose turn is further away than this goes back and is taken up again later.
PATIENCE_SECONDS = 3.0
# Messages that wait come back together, not one by one.
GROUP_SECONDS = 15.0
# Somebody with a better claim, or another process, may have gone: nobody is sent away for longer than this at a time.
LONGEST_WAIT_SECONDS = 60.0

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


def mail_pace(per_minute: float) -> Pace:
    """As many as go in a group may go at once."""
    return Pace(60.0 / per_minute, burst=max(1, int(per_minute * GROUP_SECONDS / 60.0)))


def plan_turn(free_at: float, now: float, pace: Pace) -> tuple[float, float]:
    """When the next message may leave, and from when a whole burst would be free again.

    `free_at` is what the turn before it returned.
    """
    begin = max(free_at, now)
    return max(now, begin - (pace.burst - 1) * pace.spacing), begin + pace.spacing


def take_turn(
    states: Mapping[str, LaneState], lanes: Sequence[Lane], now: float
) -> tuple[float, Mapping[str, LaneState]]:
    """When a message that needs all these lanes may leave, and the states that change because it does.

    Nothing changes when that is too far away: then it has no turn.
    """
    at, after = now, {}
    for lane in lanes:
        state = states.get(lane.name, LaneState())
        begin, free_at = plan_turn(state.free_at, now, lane.pace)
        at = max(at, begin, state.blocked_until)
        if lane.pace.spacing:
            after[lane.name] = replace(state, free_at=free_at)
    return (at, after) if at <= now + PATIENCE_SECONDS else (at, {})


def plan_return(at: float, waiting_before: int, lanes: Sequence[Lane]) -> float:
    """When to ask again for a message that has no turn before `at`, behind so many others."""
    wait = waiting_before * max((lane.pace.spacing for lane in lanes), default=0.0)
    grouped = math.ceil(wait / GROUP_SECONDS) * GROUP_SECONDS
    return at + min(grouped, LONGEST_WAIT_SECONDS)
