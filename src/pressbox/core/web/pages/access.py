"""What the pages ask of a request: who is there, and the connected parts."""

from typing import Annotated

from fastapi import Depends

from pressbox.core.app import Resources
from pressbox.core.web.connection import connected
from pressbox.core.web.identity import Identity, administrator, signed_in

Parts = Annotated[Resources, Depends(connected)]
Reader = Annotated[Identity, Depends(signed_in)]
Administrator = Annotated[Identity, Depends(administrator)]
