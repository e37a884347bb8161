"""Which addresses the outbound guard lets through."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import ConfigurationError
from pressbox.core.http.guard import Address, AllowList, endpoint, refusal

FORBIDDEN = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "168.63.129.16/32",
    "161.26.0.0/16",
    "166.8.0.0/14",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/96",
    "::ffff:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/32",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "161.25.255.255",
    "166.12.0.0",
    "168.63.129.15",
    "168.63.129.17",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "2001:4860:4860::8888",
]


def inside(network: str) -> st.SearchStrategy[Address]:
    parsed = ip_network(network)
    kind = IPv4Address if parsed.version == 4 else IPv6Address
    return st.integers(int(parsed[0]), int(parsed[-1])).map(kind)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert refusal(ip_address(address)) is None


@pytest.mark.parametrize("network", FORBIDDEN)
def test_both_ends_of_every_special_network_are_refused(network: str) -> None:
    assert refusal(ip_network(network)[0])
    assert refusal(ip_network(network)[-1])


@given(st.sampled_from(FORBIDDEN).flatmap(inside))
def test_no_address_of_a_special_network_passes(address: Address) -> None:
    assert refusal(address)


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_passes_inside_an_ipv6_one(address: IPv4Address) -> None:
    number = int(address)
    disguises = [
        IPv6Address(number),
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(int(IPv6Address("64:ff9b::")) | number),
        IPv6Address(int(IPv6Address("64:ff9b:1::")) | number),
        IPv6Address(0x2002 << 112 | number << 80 | 1),
        IPv6Address(0x20010000 << 96 | (number ^ 0xFFFFFFFF)),
        IPv6Address(int(IPv6Address("2a00:1450::5efe:0:0")) | number),
        IPv6Address(int(IPv6Address("2a00:1450::200:5efe:0:0")) | number),
    ]
    assert all(refusal(disguise) for disguise in disguises)


# Where clouds hand out the keys of a machine, as their manuals name it.
CLOUDS = {
    "AWS, Google, Oracle and most others": ("169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "192.0.0.192"),
    "containers of AWS": ("169.254.170.2", "169.254.170.23", "fd00:ec2::23"),
    "Azure": ("168.63.129.16",),
    "Alibaba": ("100.100.100.200",),
    "Tencent": ("169.254.0.23",),
    "IBM": ("161.26.0.10", "166.8.0.1", "166.11.255.254"),
    "Scaleway": ("169.254.42.42", "fd00:42::42"),
    "Linode": ("fd00:a9fe:a9fe::1",),
}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_no_cloud_hands_out_its_keys_through_us(cloud: str) -> None:
    assert all(refusal(ip_address(address)) for address in CLOUDS[cloud])


@given(st.ip_addresses())
def test_what_python_calls_special_is_never_let_through(address: Address) -> None:
    special = (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )
    assert refusal(address) or not special


def test_a_scope_does_not_help() -> None:
    assert refusal(ip_address("fe80::1%eth0")) == "link-local"


def test_the_allow_list_opens_just_what_it_names() -> None:
    allow = AllowList.parse(("10.0.0.0/24", "fd00::/64", "Printer.Example.:631", "127.0.0.1:8031", "[::1]:8032"))
    allowed = [
        ("anything.example", "10.0.0.7", 1),
        ("anything.example", "fd00::7", 443),
        ("printer.example", "192.168.1.9", 631),
        ("PRINTER.example.", "192.168.1.9", 631),
        ("demo.example", "127.0.0.1", 8031),
        ("::1", "::1", 8032),
    ]
    refused = [
        ("anything.example", "10.0.1.7", 80),
        ("printer.example", "192.168.1.9", 80),
        ("evil.printer.example", "192.168.1.9", 631),
        ("printer.example.evil.example", "192.168.1.9", 631),
        ("demo.example", "127.0.0.1", 8032),
        ("demo.example", "127.0.0.2", 8031),
        ("::ffff:10.0.0.7", "::ffff:10.0.0.7", 80),
    ]
    assert all(allow.allows(host, ip_address(address), port) for host, address, port in allowed)
    assert not any(allow.allows(host, ip_address(address), port) for host, address, port in refused)


@given(st.ip_addresses(), st.integers(1, 65535))
def test_an_empty_allow_list_allows_nothing(address: Address, port: int) -> None:
    assert not AllowList.parse(()).allows(str(address), address, port)


@given(st.ip_addresses(), st.integers(1, 65535))
def test_an_endpoint_can_be_written_into_the_allow_list(address: Address, port: int) -> None:
    assert AllowList.parse((endpoint(str(address), port),)).allows("any.example", address, port)


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "example.org",
        "10.0.0.1",
        "::1",
        "::1:80",
        "[::1]",
        "[::1:80",
        "[example.org]:80",
        "example.org:",
        "example.org:0",
        "example.org:65536",
        "example.org:+80",
        "example.org:８０",
        "example.org:http",
        "http://example.org:80",
        "*.example.org:80",
        "*:80",
        ":80",
        "exa mple:80",
        "127.1:80",
        "10.0.0.1/24",
        "10.0.0.0/33",
        "10.0.0.0/",
        "0.0.0.0/0",
        "0.0.0.0/1",
        "::/0",
        "2000::/3",
    ],
)
def test_a_malformed_entry_is_named_at_the_start(entry: str) -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_HTTP_ALLOW") as caught:
        AllowList.parse(("10.0.0.0/24", entry))
    assert f"“{entry}”" in caught.value.message


@given(st.text(max_size=40))
def test_any_text_is_an_entry_or_a_configuration_error(entry: str) -> None:
    try:
        allow = AllowList.parse((entry,))
    except ConfigurationError:
        return
    assert allow.networks or allow.addresses or allow.names
