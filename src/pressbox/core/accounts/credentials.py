"""Lasting credentials of all kinds: the core's tokens and what applications declare in their manifests."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts import tokens
from pressbox.core.app import AppManifest, Credential, CredentialKind
from pressbox.core.clock import utc_now


@dataclass(frozen=True)
class HeldCredential:
    """One of a person's, with the reference by which a form keeps it."""

    reference: str
    kind: CredentialKind
    credential: Credential


def credential_kinds(manifests: Sequence[AppManifest]) -> Iterator[CredentialKind]:
    yield TOKENS
    for manifest in manifests:
        yield from manifest.credentials()


async def load_held(session: AsyncSession, user_id: int, kinds: Sequence[CredentialKind]) -> tuple[HeldCredential, ...]:
    """Everything lasting that opens this person's things."""
    held: list[HeldCredential] = []
    for kind in kinds:
        for credential in await kind.load(session, user_id):
            held.append(HeldCredential(f"{kind.name}:{credential.id}", kind, credential))
    return tuple(held)


async def end_held(
    session: AsyncSession, user_id: int, kinds: Sequence[CredentialKind], keep: Collection[str] = ()
) -> int:
    """Revoke all but those whose reference is kept, and return how many that were."""
    held = [one for one in await load_held(session, user_id, kinds) if one.reference not in keep]
    for kind in kinds:
        ids = [one.credential.id for one in held if one.kind is kind]
        if ids:
            await kind.revoke(session, user_id, ids)
    return len(held)


async def _load_tokens(session: AsyncSession, user_id: int) -> Sequence[Credential]:
    views = await tokens.views(session, user_id)
    now = utc_now()
    return [
        Credential(str(one.id), one.name, one.created_at, one.last_used_at) for one in views if not one.has_ended(now)
    ]


async def _revoke_tokens(session: AsyncSession, user_id: int, ids: Collection[str]) -> None:
    await tokens.revoke(session, user_id, [int(one) for one in ids])


TOKENS = CredentialKind(tokens.KIND, "API tokens", _load_tokens, _revoke_tokens)
