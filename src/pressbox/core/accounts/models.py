"""The values of accounts: who somebody is and what they may do. Rows stay inside this package."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    ADMIN = "admin"
    MEMBER = "member"


class Scope(StrEnum):
    """What a token may do. `reader` is the app password of a reader app, and opens nothing else."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
    READER = "reader"


_IMPLIED = {
    Scope.READ: frozenset({Scope.READ}),
    Scope.WRITE: frozenset({Scope.READ, Scope.WRITE}),
    Scope.ADMIN: frozenset({Scope.READ, Scope.WRITE, Scope.ADMIN}),
    Scope.READER: frozenset({Scope.READER}),
}
_ROLE_SCOPES = {
    Role.ADMIN: frozenset(Scope),
    Role.MEMBER: frozenset({Scope.READ, Scope.WRITE, Scope.READER}),
}


def scopes_of(role: Role) -> frozenset[Scope]:
    """Everything that a person with this role may do."""
    return _ROLE_SCOPES[role]


def effective_scopes(role: Role, granted: frozenset[Scope]) -> frozenset[Scope]:
    """What a token may do today: its scopes with what they imply, and never more than its owner's role."""
    return frozenset().union(*(_IMPLIED[scope] for scope in granted)) & scopes_of(role)


@dataclass(frozen=True)
class User:
    id: int
    email: str
    name: str
    role: Role
    language: str | None
    created_at: datetime
    disabled_at: datetime | None
    # Somebody who was invited has none until they choose one; others sign in in another way.
    has_password: bool = True


@dataclass(frozen=True)
class Client:
    """Where a request comes from: the address counts for rate limits, the agent is shown in the list of sessions.

    `device` is the value of the long-lived cookie that tells a browser in which somebody signed in before.
    """

    address: str
    agent: str = ""
    device: str = ""


class Proof(StrEnum):
    """How somebody showed who they are."""

    PASSWORD = "password"  # noqa: S105
    LINK = "link"
    SECOND_FACTOR = "second factor"
    PASSKEY = "passkey"
    PROVIDER = "provider"


# Ways that only show the first of two factors.
SINGLE_FACTOR = frozenset({Proof.PASSWORD, Proof.LINK})


@dataclass(frozen=True)
class Actor:
    """Who does something, for the audit log; nobody in particular on the command line."""

    user_id: int | None
    client: Client


COMMAND_LINE = Actor(None, Client("command line"))


@dataclass(frozen=True)
class SignedIn:
    """A session that just began. `secret` and `device` are the values of cookies and exist nowhere else."""

    secret: str
    user: User
    device: str
    # Somebody who signed in before did so here for the first time.
    new_device: bool


@dataclass(frozen=True)
class SessionView:
    """A session as its owner sees it. `id` is the beginning of a hash, of no use to anybody else."""

    id: str
    agent: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    current: bool


@dataclass(frozen=True)
class TokenView:
    """A token as its owner sees it: enough to recognise it, not enough to use it."""

    id: int
    name: str
    hint: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None

    def has_ended(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True)
class NewToken:
    """A token at its making, the only moment at which `secret` can be shown."""

    secret: str
    view: TokenView


@dataclass(frozen=True)
class Authenticated:
    """A user who was recognised by a session or a token, and what this one may do."""

    user: User
    scopes: frozenset[Scope]
    # When they last showed, in this session or with this token, that it is really them.
    proved_at: datetime | None = None
    # How the session began; None for a token.
    proof: Proof | None = None
    # This instance demands one of them, and there is none yet: nothing is theirs to do before.
    lacks_second_factor: bool = False
