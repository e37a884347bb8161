"""Which addresses are used by whom: none that reaches somebody who did not ask."""

import pytest

from pressbox.core.errors import InvalidInputError, RefusedAddressError
from pressbox.delivery.adapters.address_book import find_audience
from pressbox.delivery.domain.targets import (
    LOCAL_SCHEMES,
    MAIL_SCHEMES,
    OWN_MAIL,
    SOCKET_SCHEMES,
    Audience,
    TargetFacts,
    check_scheme,
    check_target,
    find_refusal,
    normalise_mailbox,
    normalise_target,
)

ANYBODY, MEMBER = Audience.ANYBODY, Audience.MEMBER


@pytest.mark.parametrize("audience", Audience)
@pytest.mark.parametrize("scheme", sorted(MAIL_SCHEMES | SOCKET_SCHEMES | LOCAL_SCHEMES))
def test_mail_and_what_goes_past_the_proxy_is_for_nobody(scheme: str, audience: Audience) -> None:
    with pytest.raises((InvalidInputError, RefusedAddressError)):
        check_scheme(scheme, audience)


def test_an_allowed_scheme_of_the_machine_is_refused_again_when_its_owner_is_no_administrator() -> None:
    allowed = frozenset({"dbus"})
    assert find_refusal("dbus://", Audience.ADMINISTRATOR, allowed) == ""
    assert "dbus" in find_refusal("dbus://", Audience.MEMBER, allowed)
    assert find_refusal("MAILTO://user:secret@example.org", Audience.ADMINISTRATOR, frozenset({"mailto"})) == OWN_MAIL


def test_schemes_of_the_machine_that_are_allowed_are_for_administrators_only_and_never_mail() -> None:
    allowed = frozenset({"syslog", "mailto"})
    check_scheme("syslog", Audience.ADMINISTRATOR, allowed)
    for audience in (ANYBODY, MEMBER):
        with pytest.raises(RefusedAddressError):
            check_scheme("syslog", audience, allowed)
    with pytest.raises(InvalidInputError):
        check_scheme("mailto", Audience.ADMINISTRATOR, allowed)


@pytest.mark.parametrize(
    ("role", "audience"),
    [(None, ANYBODY), ("member", MEMBER), ("admin", Audience.ADMINISTRATOR), ("something new", MEMBER)],
)
def test_the_role_of_an_account_says_which_addresses_it_may_use(role: str | None, audience: Audience) -> None:
    assert find_audience(role) is audience


@pytest.mark.parametrize(
    ("facts", "audience"),
    [
        (TargetFacts("ntfy", frozenset({"email"}), 1), ANYBODY),
        (TargetFacts("ntfy", frozenset({"email"}), 1), MEMBER),
        (TargetFacts("sendgrid", frozenset({"bcc"}), 1), MEMBER),
        (TargetFacts("ntfys", frozenset({"to"}), 1), ANYBODY),
        (TargetFacts("json", frozenset({":to"}), 1), ANYBODY),
        (TargetFacts("json", frozenset({"+authorization"}), 1), ANYBODY),
        (TargetFacts("ntfy", frozenset(), 2), ANYBODY),
        (TargetFacts("twilio", frozenset(), 1), ANYBODY),
        (TargetFacts("sendgrid", frozenset(), 1), ANYBODY),
        (TargetFacts("workflows", frozenset(), 1), ANYBODY),
    ],
)
def test_what_could_reach_somebody_else_is_refused(facts: TargetFacts, audience: Audience) -> None:
    with pytest.raises(InvalidInputError):
        check_target(facts, audience)


@pytest.mark.parametrize("scheme", ["ntfy", "ntfys", "gotifys", "json", "jsons", "discord", "matrixs"])
def test_one_place_of_a_known_service_is_for_anybody(scheme: str) -> None:
    check_target(TargetFacts(scheme, frozenset(), 1), ANYBODY)


def test_members_use_every_other_service_with_their_own_credentials() -> None:
    check_target(TargetFacts("twilio", frozenset({"from", "to"}), 3), MEMBER)


@pytest.mark.parametrize(
    "url",
    ["ntfys://Topic?priority=high", "ntfy://topic/", "ntfy://user:pass@ntfy.sh/topic", "ntfys://ntfy.sh/TOPIC?mode=x"],
)
def test_spellings_of_one_place_share_their_limits(url: str) -> None:
    assert normalise_target(url) == "ntfy://topic"


@pytest.mark.parametrize(
    "email",
    ["victim@gmail.com", "v.ic.tim@gmail.com", "Victim+a@Gmail.com", "v.i.c.t.i.m+x+y@googlemail.com"],
)
def test_spellings_of_one_mailbox_share_their_limits(email: str) -> None:
    assert normalise_mailbox(email) == "victim@gmail.com"


def test_a_mailbox_of_signs_only_keeps_its_name() -> None:
    assert normalise_mailbox("+@example.org") == "+@example.org"
