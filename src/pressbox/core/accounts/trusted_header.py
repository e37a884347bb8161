"""Sign-in by a header that a proxy sets: only when it is switched on, and only from a proxy that is trusted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pressbox.core.accounts.admission import ExternalPerson
from pressbox.core.config import Settings, TrustedHeaderSettings

# Under this name the people of the proxy are kept beside those of OpenID providers.
PROVIDER = "trusted-header"
LONGEST_USER = 255


@dataclass(frozen=True)
class Ambiguous:
    """The header came twice: one of the two may be what a stranger sent and the proxy did not remove."""


def read_person(
    settings: TrustedHeaderSettings, headers: Mapping[str, Sequence[str]]
) -> ExternalPerson | Ambiguous | None:
    """Who the proxy says it is. `headers` are those of a request that a trusted proxy sent, names in lower case."""
    users = [value.strip() for value in headers.get(settings.user.lower(), ())]
    if len(users) > 1:
        return Ambiguous()
    if not users or not users[0]:
        return None
    subject = users[0]
    if len(subject) > LONGEST_USER or not subject.isprintable():
        return Ambiguous()
    email = _single(headers, settings.email) or (subject if "@" in subject else None)
    return ExternalPerson(
        provider=PROVIDER,
        subject=subject,
        email=email,
        email_verified=email is not None,
        name=_single(headers, settings.name) or "",
        groups=_groups(headers, settings.groups),
    )


def problem_of(settings: Settings) -> str | None:
    """What is half set, in words for whoever set it; None when all is well."""
    header, proxies = settings.trusted_header, settings.web.trusted_proxies
    if not header.enabled:
        set_anyway = header.model_fields_set - {"enabled"}
        if set_anyway:
            names = ", ".join(sorted(f"PRESSBOX_TRUSTED_HEADER_{name.upper()}" for name in set_anyway))
            return f"{names} is set, but PRESSBOX_TRUSTED_HEADER_ENABLED is not, so headers are ignored."
        return None
    if not proxies:
        return (
            "PRESSBOX_TRUSTED_HEADER_ENABLED is set, but PRESSBOX_WEB_TRUSTED_PROXIES names no proxy, so the header is "
            "ignored from everybody."
        )
    if any(entry in ("0.0.0.0/0", "::/0") for entry in proxies):
        return "PRESSBOX_WEB_TRUSTED_PROXIES trusts everybody, so anybody can send the header and be anyone."
    if not settings.web.public_url:
        return "PRESSBOX_TRUSTED_HEADER_ENABLED is set, but PRESSBOX_WEB_PUBLIC_URL, the address of the proxy, is not."
    return None


def _single(headers: Mapping[str, Sequence[str]], name: str) -> str | None:
    values = headers.get(name.lower(), ())
    return (values[0].strip() or None) if len(values) == 1 else None


def _groups(headers: Mapping[str, Sequence[str]], name: str) -> frozenset[str]:
    # Authentik separates them by a bar, all others by a comma. Twice sent, none counts.
    line = (_single(headers, name) or "").replace("|", ",")
    return frozenset(group.strip() for group in line.split(",") if group.strip())
