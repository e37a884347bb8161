"""What the pages and the API of the reader ask of a request: who reads, and where they are."""

from pressbox.core.web.identity import SignedInIdentity

PATH = "/reader"
Reader = SignedInIdentity
