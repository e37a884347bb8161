"""Opens connections, to checked addresses only: the place where the guard cannot be bypassed.

Every connection of the client is made here, the first one and that of each redirect. The name is resolved once, all
its addresses are checked, and the socket goes to one of exactly these: a second look-up, which could answer
otherwise, never happens. TLS still verifies the name.
"""

import asyncio
import socket
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import ip_address
from typing import Protocol

import httpcore

from pressbox.core.errors import RefusedAddressError, TransientError
from pressbox.core.http.guard import SETTING, Address, AllowList, endpoint, refusal
from pressbox.core.logs import get_logger

log = get_logger(__name__)

# So that one dead address of several does not use up the time of the whole exchange.
PER_ADDRESS_SECONDS = 5.0
LOOKUPS_AT_ONCE = 16


class Resolver(Protocol):
    """Turns a name, or the spelling of an address, into addresses, the preferred one first.

    A name that has none is a TransientError: names come and go.
    """

    async def resolve(self, host: str, port: int) -> Sequence[Address]: ...


class SystemResolver:
    """The resolver of the machine. It also reads the odd spellings of IPv4 (0x7f.1), as any connect would."""

    def __init__(self) -> None:
        # Threads of its own: a name server that lets us wait must not hold up everything else that needs a thread.
        self._threads = ThreadPoolExecutor(LOOKUPS_AT_ONCE, thread_name_prefix="resolve")

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        try:
            answers = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        except (OSError, UnicodeError) as error:
            raise TransientError(f"The name {host} does not resolve.", host=host) from error
        return tuple(dict.fromkeys(ip_address(answer[4][0]) for answer in answers))


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """httpcore's own sockets behind the guard."""

    def __init__(self, allow: AllowList, resolver: Resolver) -> None:
        self._allow = allow
        self._resolver = resolver
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self._resolve_allowed(host, port)
        for address in addresses[:-1]:
            try:
                limit = PER_ADDRESS_SECONDS if timeout is None else min(timeout, PER_ADDRESS_SECONDS)
                return await self._sockets.connect_tcp(str(address), port, limit, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                log.debug("address_unreachable", msg="Trying the next address", host=host, address=str(address))
        return await self._sockets.connect_tcp(str(addresses[-1]), port, timeout, local_address, socket_options)

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.AsyncNetworkStream:
        raise RefusedAddressError("Local sockets are never reached through the outbound client.")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _resolve_allowed(self, host: str, port: int) -> Sequence[Address]:
        addresses = await self._resolver.resolve(host, port)
        if not addresses:
            raise TransientError(f"The name {host} has no address.", host=host)
        # One refused address refuses the name: a mixture of public and private ones is how rebinding begins.
        for address in addresses:
            reason = refusal(address)
            if reason is not None and not self._allow.allows(host, address, port):
                log.warning(
                    "address_refused", msg="Not connected", host=host, port=port, address=str(address), reason=reason
                )
                # The address itself stays in the log: whoever named the host need not learn our network.
                raise RefusedAddressError(
                    f"{host} is not on the public internet (its address is {reason}). "
                    f"An administrator can allow it with {SETTING}={endpoint(host, port)}.",
                    host=host,
                    port=port,
                )
        return addresses
