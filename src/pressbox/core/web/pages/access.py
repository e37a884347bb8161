"""What the pages ask of a request: who is there, and the connected parts."""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.web.connection import connected
from pressbox.core.web.identity import Identity, administrator, current_viewer, signed_in

Parts = Annotated[Resources, Depends(connected)]
Reader = Annotated[Identity, Depends(signed_in)]
Administrator = Annotated[Identity, Depends(administrator)]
# Who looks at work: what they may see of it is decided by its audience.
WorkViewer = Annotated[Viewer, Depends(current_viewer)]
ServiceT = TypeVar("ServiceT")


@cache
def provide(make: Callable[[Resources], ServiceT]) -> Callable[[Resources], Awaitable[ServiceT]]:
    """Return the dependency that gives what `make` builds from the connected parts, built once for them."""
    built: list[tuple[Resources, ServiceT]] = []

    async def provided(parts: Parts) -> ServiceT:
        if not built or built[0][0] is not parts:
            built[:] = [(parts, make(parts))]
        return built[0][1]

    return provided


def provide_service(name: str, make: Callable[[Resources], object]) -> Callable[..., None]:
    """Return a dependency that puts a service into `request.state`; it is made once per connection."""
    held: list[tuple[Resources, object]] = []

    def provide(request: Request, parts: Parts) -> None:
        if not held or held[0][0] is not parts:
            held[:] = [(parts, make(parts))]
        setattr(request.state, name, held[0][1])

    return provide
