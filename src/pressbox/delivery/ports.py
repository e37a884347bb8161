"""What sending needs from outside, and what travels between its parts. Times are aware UTC."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from pressbox.core.clock import machine_seconds
from pressbox.delivery.domain.attempts import AttemptResult, Level, Verdict
from pressbox.delivery.domain.targets import Audience


@dataclass(frozen=True)
class DeliveryResult:
    """The result of one try, for the ledger."""

    delivery_id: int
    verdict: Verdict
    reason: str = ""
    # Our own mail server failed: this is not counted against the channel.
    is_own_fault: bool = False


@dataclass(frozen=True)
class Claim:
    """Who holds deliveries, and for how long after each statement of theirs; by the clock of the database."""

    owner: str
    lease: timedelta


@dataclass(frozen=True)
class BrokenChannel:
    """A channel that is marked broken, what its owner is told of it, and how else they can be reached."""

    channel_id: int
    title: str
    body: str
    other_channels: tuple[str, ...]
    owner_email: str = field(repr=False)


@dataclass(frozen=True)
class SealedAddress:
    """An encrypted address. `target` is equal for two addresses that lead to the same place; `shown` may be seen.

    `older_targets` are those of earlier instance keys, until their rows are sealed again.
    """

    key_id: str
    encrypted: bytes
    target: bytes
    kind: str
    shown: str
    older_targets: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class OutgoingMessage:
    """A message to one target. `why_url` and `unsubscribe_url` are private to that person.

    With a `recipient_id`, which a ledger gave, it is sent only while it is still wanted there.
    """

    title: str
    body: str
    level: Level
    why_url: str
    unsubscribe_url: str
    recipient_id: int | None = None
    # What stands below the text, in the language of its reader: where to change, mute and leave.
    footer: tuple[str, ...] = ()
    # In seconds of the machine (`machine_seconds`): after it somebody else may send this, so it must not leave.
    not_after: float | None = None

    @property
    def is_too_late(self) -> bool:
        return self.not_after is not None and machine_seconds() > self.not_after


@dataclass(frozen=True)
class Attempt:
    """The result of one try; `reason` contains no secrets. `is_own_fault`: this instance failed, not the target.

    `server_pause`: for this long nothing else that goes the same way needs to be tried.
    """

    result: AttemptResult
    reason: str = ""
    retry_after: timedelta | None = None
    is_own_fault: bool = False
    server_pause: timedelta | None = None


class NoTurnError(Exception):
    """Nothing may leave for this target at the moment; ask again after `wait`. No try was made."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(f"no turn within {wait}")
        self.wait = wait


SendNow = Callable[[OutgoingMessage], Awaitable[Attempt]]


class Sender(Protocol):
    """Sends one message to one target. Whatever the other side does is an Attempt, never an exception."""

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        """Wait for a turn, then send; UNAVAILABLE when there is none soon."""
        ...

    def turn(self, channel_key: str) -> AbstractAsyncContextManager[SendNow]:
        """Wait a moment until a message may leave for this target; waiting holds up no other target.

        Entering raises a NoTurnError when it would take longer.
        """
        ...


class Mailer(Protocol):
    """Sends mail in the name of the instance."""

    async def send(self, to: str, subject: str, body: str, headers: Mapping[str, str]) -> None: ...


@dataclass(frozen=True)
class AddressFacts:
    """What an Apprise address leads to. Only `service` may be shown; the host of a server of one's own may be secret.

    `place` is one spelling for all addresses of the same place, for counting.
    """

    scheme: str
    service: str
    host: str = field(repr=False)
    place: str = field(repr=False)


class AddressCheck(Protocol):
    """Knows which Apprise addresses can be used and by whom, without sending anything."""

    async def describe(self, url: str, audience: Audience) -> AddressFacts:
        """An InvalidInputError for `url`, or a RefusedAddressError, when it cannot be used."""
        ...


class BrokenChannels(Protocol):
    """Channels that stopped working and whose owners do not know it yet."""

    async def claim(self, limit: int) -> Sequence[BrokenChannel]:
        """Hand out each channel once: an owner who gets no message still sees it on the page; two would annoy."""
        ...


class DueSend(Protocol):
    """One row of a ledger that may be tried now. `channel_key` says where the address is kept; it is not here.

    `tries` counts those begun before: the next one is number `tries + 1`.
    """

    @property
    def delivery_id(self) -> int: ...

    @property
    def channel_key(self) -> str: ...

    @property
    def tries(self) -> int: ...


class ClaimedRows(Protocol):
    """What a round does with the rows of a ledger that it holds. Each method is one transaction."""

    async def renew(self, delivery_ids: Iterable[int], claim: Claim) -> None:
        """Keep those of these that are still held."""
        ...

    async def release(self, delivery_ids: Iterable[int], claim: Claim) -> None:
        """Give back what was not tried."""
        ...

    async def note_tries(self, delivery_ids: Iterable[int], claim: Claim) -> Collection[int]:
        """Note, durably, that these are about to be tried, count the try and renew the claim.

        Returns those that are still wanted and still held. One whose last try was cut off is marked `maybe_twice`.
        """
        ...

    async def record_results(self, results: Sequence[DeliveryResult], claim: Claim) -> None:
        """Record the results of noted tries, count the failures of each channel and mark it broken after too many.

        Where another round has noted a try since, only `maybe_twice` is recorded.
        """
        ...

    async def postpone(self, waits: Mapping[int, timedelta], claim: Claim) -> None:
        """Give these back and let them be due after a while; no try is counted."""
        ...
