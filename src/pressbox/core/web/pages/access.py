"""What the pages ask of a request: who is there, and the connected parts."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request

from pressbox.core.app import Resources
from pressbox.core.web.connection import connected
from pressbox.core.web.identity import Identity, administrator, signed_in

Parts = Annotated[Resources, Depends(connected)]
Reader = Annotated[Identity, Depends(signed_in)]
Administrator = Annotated[Identity, Depends(administrator)]


def provide_service(name: str, make: Callable[[Resources], object]) -> Callable[..., None]:
    """Return a dependency that puts a service into `request.state`; it is made once per connection."""
    held: list[tuple[Resources, object]] = []

    def provide(request: Request, parts: Parts) -> None:
        if not held or held[0][0] is not parts:
            held[:] = [(parts, make(parts))]
        setattr(request.state, name, held[0][1])

    return provide
