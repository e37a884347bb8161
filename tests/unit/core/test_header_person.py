import pytest

from pressbox.core.accounts.admission import ExternalPerson, require_group, role_of
from pressbox.core.accounts.models import Role
from pressbox.core.accounts.trusted_header import Ambiguous, problem_of, read_person
from pressbox.core.config import AdmissionSettings, Settings, TrustedHeaderSettings, WebSettings
from pressbox.core.errors import ForbiddenError

ON = TrustedHeaderSettings(enabled=True)


def test_the_proxy_says_who_it_is() -> None:
    found = read_person(
        ON,
        {
            "remote-user": ["anna"],
            "remote-email": ["anna@example.org"],
            "remote-name": ["Anna A."],
            "remote-groups": ["press, admins"],
        },
    )
    assert isinstance(found, ExternalPerson)
    assert (found.subject, found.email, found.name) == ("anna", "anna@example.org", "Anna A.")
    assert found.groups == {"press", "admins"}


def test_a_user_name_that_is_an_address_is_one() -> None:
    found = read_person(ON, {"remote-user": ["anna@example.org"]})
    assert isinstance(found, ExternalPerson)
    assert found.email == "anna@example.org"


@pytest.mark.parametrize("values", [["anna", "root"], ["x" * 300], ["an\x07na"]])
def test_a_header_that_came_twice_or_is_no_name_is_nobody(values: list[str]) -> None:
    assert read_person(ON, {"remote-user": values}) == Ambiguous()


@pytest.mark.parametrize("values", [[], [""], ["  "]])
def test_without_the_header_it_is_nobody(values: list[str]) -> None:
    assert read_person(ON, {"remote-user": values}) is None


def test_groups_that_came_twice_do_not_count() -> None:
    found = read_person(ON, {"remote-user": ["anna"], "remote-groups": ["press", "admins"]})
    assert isinstance(found, ExternalPerson)
    assert found.groups == frozenset()


def test_a_half_set_configuration_is_explained() -> None:
    public = "https://press.example.org"
    trusted = WebSettings(trusted_proxies=("10.0.0.2",), public_url=public)
    assert problem_of(Settings()) is None
    assert problem_of(Settings(trusted_header=ON, web=trusted)) is None
    assert "TRUSTED_PROXIES" in (problem_of(Settings(trusted_header=ON)) or "")
    named = TrustedHeaderSettings(user="X-User")
    assert "TRUSTED_HEADER_ENABLED" in (problem_of(Settings(trusted_header=named, web=trusted)) or "")
    everybody = WebSettings(trusted_proxies=("0.0.0.0/0",), public_url=public)
    assert "anybody" in (problem_of(Settings(trusted_header=ON, web=everybody)) or "")
    unnamed = WebSettings(trusted_proxies=("10.0.0.2",))
    assert "PUBLIC_URL" in (problem_of(Settings(trusted_header=ON, web=unnamed)) or "")


def test_groups_decide_who_may_come_in_and_as_what() -> None:
    anna = ExternalPerson("p", "anna", None, False, "", frozenset({"press"}))
    require_group(anna, AdmissionSettings())
    require_group(anna, AdmissionSettings(allowed_groups=("press", "desk")))
    with pytest.raises(ForbiddenError, match="none of the groups"):
        require_group(anna, AdmissionSettings(allowed_groups=("desk",)))
    assert role_of(anna, AdmissionSettings()) is None
    assert role_of(anna, AdmissionSettings(admin_groups=("press",))) is Role.ADMIN
    assert role_of(anna, AdmissionSettings(admin_groups=("desk",))) is Role.MEMBER
